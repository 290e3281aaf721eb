//! The part of the contracts' ABI that the harness speaks, written from the specification: a
//! contract that renames something fails here, not silently.
use alloy::sol;

sol! {
    interface Identity {
        event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
        event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
        event ApprovalForAll(address indexed owner, address indexed operator, bool approved);
        event MetadataUpdate(uint256 tokenId);
        event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
        event MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue);

        function register(string agentURI) external returns (uint256 agentId);
        function transferFrom(address from, address to, uint256 agentId) external;
        function ownerOf(uint256 agentId) external view returns (address);
        function tokenURI(uint256 agentId) external view returns (string);
        function getAgentWallet(uint256 agentId) external view returns (address);
    }

    interface AuthorizedReputation {
        event NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint8 score, bytes32 indexed tag1, bytes32 tag2, string feedbackUri, bytes32 feedbackHash);
        event FeedbackIndexed(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex, uint256 timestamp);
        event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);

        function giveFeedback(uint256 agentId, uint8 score, bytes32 tag1, bytes32 tag2, string fileuri, bytes32 filehash, bytes feedbackAuth) external;
        function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external;
        function getSummary(uint256 agentId) external view returns (uint64 count, uint8 averageScore);
        function getTotals(uint256 agentId) external view returns (uint64 count, uint64 sum);
        function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64);
        function getClients(uint256 agentId) external view returns (address[]);
        function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex) external view returns (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 timestamp);
    }

    contract AuthorizedReputationDeployment {
        constructor(address identityRegistry, bool acceptsDraftV1);
    }
}
