// Base Sepolia's chain id, so that the commands are those of docs/DEPLOYING.md. Nothing is compiled, so no compiler is fetched.
module.exports = { networks: { hardhat: { chainId: 84532, hardfork: "prague", loggingEnabled: false } } };
