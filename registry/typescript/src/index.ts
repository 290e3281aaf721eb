export { authorizedReputationRegistryAbi } from "./generated/authorized-reputation-registry.js";
export { identityRegistryAbi } from "./generated/identity-registry.js";
export { reputationRegistryAbi } from "./generated/reputation-registry.js";
export { validationRegistryAbi } from "./generated/validation-registry.js";
export { selectors } from "./generated/selectors.js";
export { type AgentRegistry, agentRegistryIdl } from "./generated/agent-registry.js";
export { canonicalTexts } from "./generated/canonical-texts.js";
export { errorClasses } from "./generated/error-classes.js";
export * from "./error-class.js";
