// What the first draft's contracts say, as error classes. They check less than the model does, and in another order.

/** The custom errors of OpenZeppelin's contracts below them. */
export const REFUSALS = [
  "error Error(string)",
  "error ERC721NonexistentToken(uint256)",
  "error ERC721InsufficientApproval(address,uint256)",
  "error ERC721IncorrectOwner(address,uint256,address)",
  "error ERC721InvalidApprover(address)",
  "error ERC721InvalidReceiver(address)",
  "error ERC721InvalidOperator(address)",
  "error ECDSAInvalidSignature()",
  "error ECDSAInvalidSignatureLength(uint256)",
  "error ECDSAInvalidSignatureS(bytes32)",
];

const CLASSES = {
  "score>100": "ScoreOutOfRange",
  "resp>100": "ScoreOutOfRange",
  "Agent does not exist": "AgentNotFound",
  "Not authorized": "NotAuthorized",
  "Invalid auth length": "AuthMalformed",
  "IndexLimit exceeded": "AuthIndexLimit",
  "Auth expired": "AuthExpired",
  "AgentId mismatch": "AuthNotGranted",
  "Client mismatch": "AuthNotGranted",
  "ChainId mismatch": "AuthNotGranted",
  "Registry mismatch": "AuthNotGranted",
  "Signer not authorized": "AuthNotGranted",
  "bad validator": "ValidatorZero",
  exists: "RequestExists",
  unknown: "RequestNotFound",
  "not validator": "NotValidator",
  ERC721NonexistentToken: "AgentNotFound",
  ERC721InsufficientApproval: "TransferNotAllowed",
  ERC721IncorrectOwner: "TransferNotAllowed",
  ERC721InvalidApprover: "TransferNotAllowed",
  ERC721InvalidReceiver: "ReceiverRefused",
  ECDSAInvalidSignature: "AuthNotGranted",
  ECDSAInvalidSignatureLength: "AuthMalformed",
  ECDSAInvalidSignatureS: "AuthNotGranted",
  "Already revoked": "AlreadyRevoked",
  "index out of bounds": "FeedbackNotFound",
  "index must be > 0": "FeedbackNotFound",
  "Self-feedback not allowed": "SelfFeedback",
  "Empty URI": "EmptyUri",
  "Invalid signature": "AuthNotGranted",
  "Bad 1271 signature": "AuthNotGranted",
};

/** undefined: none of the harness's classes says that. */
export function classOf(operation, words) {
  // abi.decode's only refusal: bytes of an authorization that are no value of their type.
  if (operation === "give_feedback" && words === "no data") return "AuthMalformed";
  return CLASSES[words];
}
