//! The part of the contracts' ABI that the harness speaks, written from the specification: a
//! contract that renames something fails here, not silently.
use alloy::sol;

sol! {
    interface Identity {
        struct MetadataEntry {
            string metadataKey;
            bytes metadataValue;
        }

        event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
        event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
        event ApprovalForAll(address indexed owner, address indexed operator, bool approved);
        event MetadataUpdate(uint256 tokenId);
        event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
        event MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue);
        event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);

        function register(string agentURI) external returns (uint256 agentId);
        function register(string agentURI, MetadataEntry[] metadata) external returns (uint256 agentId);
        function setAgentURI(uint256 agentId, string newURI) external;
        function setMetadata(uint256 agentId, string metadataKey, bytes metadataValue) external;
        function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes signature) external;
        function unsetAgentWallet(uint256 agentId) external;
        function transferFrom(address from, address to, uint256 agentId) external;
        function approve(address to, uint256 agentId) external;
        function setApprovalForAll(address operator, bool approved) external;
        function ownerOf(uint256 agentId) external view returns (address);
        function tokenURI(uint256 agentId) external view returns (string);
        function getAgentWallet(uint256 agentId) external view returns (address);
        function getMetadata(uint256 agentId, string metadataKey) external view returns (bytes);
    }

    /// What the two reputation registries have in common.
    interface Reputation {
        event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);
        event ResponseAppended(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, address indexed responder, string responseURI, bytes32 responseHash);

        function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external;
        function appendResponse(uint256 agentId, address clientAddress, uint64 feedbackIndex, string responseURI, bytes32 responseHash) external;
        function getResponseCount(uint256 agentId, address clientAddress, uint64 feedbackIndex, address[] responders) external view returns (uint64 count);
        function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64);
        function getClients(uint256 agentId) external view returns (address[]);
    }

    interface AuthorizedReputation {
        event NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint8 score, bytes32 indexed tag1, bytes32 tag2, string feedbackUri, bytes32 feedbackHash);
        event FeedbackIndexed(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex, uint256 timestamp);

        function giveFeedback(uint256 agentId, uint8 score, bytes32 tag1, bytes32 tag2, string fileuri, bytes32 filehash, bytes feedbackAuth) external;
        function getSummary(uint256 agentId) external view returns (uint64 count, uint8 averageScore);
        function getTotals(uint256 agentId) external view returns (uint64 count, uint64 sum);
        function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex) external view returns (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 timestamp);
    }

    interface OpenReputation {
        struct SummaryPart {
            int256 sum;
            uint64 count;
            uint64[19] histogram;
        }

        event NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash);

        function giveFeedback(uint256 agentId, int128 value, uint8 valueDecimals, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash) external;
        function getSummary(uint256 agentId, address[] clientAddresses, string tag1, string tag2) external view returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals);
        function getSummaryPartOfClients(uint256 agentId, uint256 start, uint256 limit, string tag1, string tag2) external view returns (SummaryPart part);
        function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex) external view returns (int128 value, uint8 valueDecimals, string tag1, string tag2, bool isRevoked);
    }

    interface Validation {
        event ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash);
        event ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, bytes32 indexed requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag);

        function validationRequest(address validatorAddress, uint256 agentId, string requestURI, bytes32 requestHash) external;
        function validationResponse(bytes32 requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag) external;
        function getValidationStatus(bytes32 requestHash) external view returns (address validatorAddress, uint256 agentId, uint8 response, bytes32 responseHash, string tag, uint256 lastUpdate);
        function hasResponse(bytes32 requestHash) external view returns (bool);
        function getValidationCount(uint256 agentId) external view returns (uint64);
        function getAgentValidations(uint256 agentId) external view returns (bytes32[]);
    }

    /// What every registry says of the identity registry whose agents it is about.
    interface Bound {
        function getIdentityRegistry() external view returns (address);
    }

    contract AuthorizedReputationDeployment {
        constructor(address identityRegistry, bool acceptsDraftV1);
    }

    contract BoundDeployment {
        constructor(address identityRegistry);
    }
}
