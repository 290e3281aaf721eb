//! The contracts' interfaces, written from the specification. Tests compare them with the published
//! ABIs, item by item.
use alloy_sol_types::sol;

sol! {
    /// Who the agents are: an ERC-721 collection (R1 to R3).
    #[derive(Debug, PartialEq, Eq)]
    contract IdentityRegistry {
        struct MetadataEntry {
            string metadataKey;
            bytes metadataValue;
        }

        event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
        event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
        event ApprovalForAll(address indexed owner, address indexed operator, bool approved);
        event MetadataUpdate(uint256 tokenId);
        event BatchMetadataUpdate(uint256 fromTokenId, uint256 toTokenId);
        event EIP712DomainChanged();
        event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
        event MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue);
        event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);

        error DeadlinePassed(uint256 deadline, uint256 timestamp);
        error DeadlineTooFar(uint256 deadline, uint256 latest);
        error DeploymentFailed();
        error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner);
        error ERC721InsufficientApproval(address operator, uint256 tokenId);
        error ERC721InvalidApprover(address approver);
        error ERC721InvalidOperator(address operator);
        error ERC721InvalidOwner(address owner);
        error ERC721InvalidReceiver(address receiver);
        error ERC721InvalidSender(address sender);
        error ERC721NonexistentToken(uint256 tokenId);
        error InvalidShortString();
        error NotAuthorized(address caller, uint256 agentId);
        error ReservedKey();
        error StringTooLong(string str);
        error WalletConsentMissing(address newWallet, bytes32 digest);
        error WalletConsentUsed(bytes32 digest);
        error WalletZero();

        constructor();

        function register() external returns (uint256 agentId);
        function register(string agentURI) external returns (uint256 agentId);
        function register(string agentURI, MetadataEntry[] metadata) external returns (uint256 agentId);
        function setAgentURI(uint256 agentId, string newURI) external;
        function setMetadata(uint256 agentId, string metadataKey, bytes metadataValue) external;
        function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes signature) external;
        function unsetAgentWallet(uint256 agentId) external;
        function getMetadata(uint256 agentId, string metadataKey) external view returns (bytes);
        function getAgentWallet(uint256 agentId) external view returns (address);
        function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool);
        function getVersion() external pure returns (string);

        function approve(address to, uint256 tokenId) external;
        function setApprovalForAll(address operator, bool approved) external;
        function transferFrom(address from, address to, uint256 tokenId) external;
        function safeTransferFrom(address from, address to, uint256 tokenId) external;
        function safeTransferFrom(address from, address to, uint256 tokenId, bytes data) external;
        function balanceOf(address owner) external view returns (uint256);
        function ownerOf(uint256 tokenId) external view returns (address);
        function getApproved(uint256 tokenId) external view returns (address);
        function isApprovedForAll(address owner, address operator) external view returns (bool);
        function name() external view returns (string);
        function symbol() external view returns (string);
        function tokenURI(uint256 tokenId) external view returns (string);
        function supportsInterface(bytes4 interfaceId) external view returns (bool);
        function eip712Domain() external view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions);
    }

    /// What the two reputation registries have in common.
    interface Feedback {
        event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);
        event ResponseAppended(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, address indexed responder, string responseURI, bytes32 responseHash);

        error AlreadyRevoked(uint256 agentId, address client, uint64 feedbackIndex);
        error CounterExhausted();
        error ERC721NonexistentToken(uint256 tokenId);
        error EmptyUri();
        error FeedbackNotFound(uint256 agentId, address client, uint64 feedbackIndex);
        error RegistryZero();
        error SelfFeedback(uint256 agentId, address client);

        function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external;
        function appendResponse(uint256 agentId, address clientAddress, uint64 feedbackIndex, string responseURI, bytes32 responseHash) external;
        function getResponseCount(uint256 agentId, address clientAddress, uint64 feedbackIndex, address[] responders) external view returns (uint64 count);
        function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64);
        function getClients(uint256 agentId) external view returns (address[]);
        function getClientCount(uint256 agentId) external view returns (uint256);
        function getClientsWindow(uint256 agentId, uint256 start, uint256 limit) external view returns (address[]);
        function getIdentityRegistry() external view returns (address);
        function getVersion() external pure returns (string);
    }

    /// The authorized profile: the first draft's ABI, and what Concord adds (R15). The rest of it
    /// is in [`Feedback`].
    #[derive(Debug, PartialEq, Eq)]
    contract AuthorizedReputationRegistry {
        struct FeedbackRecord {
            uint64 feedbackIndex;
            uint8 score;
            bytes32 tag1;
            bytes32 tag2;
            bool isRevoked;
            uint64 timestamp;
            uint64 responseCount;
        }

        event NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint8 score, bytes32 indexed tag1, bytes32 tag2, string feedbackUri, bytes32 feedbackHash);
        event FeedbackIndexed(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex, uint256 timestamp);
        event EIP712DomainChanged();

        error AuthBadSignature();
        error AuthDirtyWord(uint256 word);
        error AuthExpired(uint256 expiry, uint256 timestamp);
        error AuthIndexLimit(uint64 lastIndex, uint64 indexLimit);
        error AuthLength(uint256 length);
        error AuthMissing();
        error AuthWrongAgent(uint256 agentId);
        error AuthWrongChain(uint256 chainId);
        error AuthWrongClient(address client);
        error AuthWrongRegistry(address identityRegistry);
        error AuthWrongSigner(address signer, address owner);
        error InvalidShortString();
        error ScoreOutOfRange(uint8 score);
        error StringTooLong(string str);

        constructor(address identityRegistry, bool acceptsDraftV1);

        function giveFeedback(uint256 agentId, uint8 score, bytes32 tag1, bytes32 tag2, string fileuri, bytes32 filehash, bytes feedbackAuth) external;
        function getSummary(uint256 agentId) external view returns (uint64 count, uint8 averageScore);
        function getSummary(uint256 agentId, address[] clientAddresses, bytes32 tag1, bytes32 tag2) external view returns (uint64 count, uint8 averageScore);
        function getTotals(uint256 agentId) external view returns (uint64 count, uint64 sum);
        function getTotals(uint256 agentId, address[] clientAddresses, bytes32 tag1, bytes32 tag2) external view returns (uint64 count, uint64 sum);
        function getTotalsOfClients(uint256 agentId, uint256 start, uint256 limit, bytes32 tag1, bytes32 tag2) external view returns (uint64 count, uint64 sum);
        function getTotalsOfIndices(uint256 agentId, address clientAddress, uint64 start, uint64 limit, bytes32 tag1, bytes32 tag2) external view returns (uint64 count, uint64 sum);
        function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex) external view returns (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 timestamp);
        function readAllFeedback(uint256 agentId, address[] clientAddresses, bytes32 tag1, bytes32 tag2, bool includeRevoked) external view returns (address[] clients, uint8[] scores, bytes32[] tag1s, bytes32[] tag2s, bool[] revokedStatuses);
        function readFeedbackWindow(uint256 agentId, address clientAddress, uint64 start, uint64 limit) external view returns (FeedbackRecord[] records);
        function acceptsDraftV1() external view returns (bool);
        function eip712Domain() external view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions);
    }

    /// The open profile (R16). The rest of it is in [`Feedback`].
    #[derive(Debug, PartialEq, Eq)]
    contract ReputationRegistry {
        struct SummaryPart {
            int256 sum;
            uint64 count;
            uint64[19] histogram;
        }

        struct FeedbackRecord {
            uint64 feedbackIndex;
            int128 value;
            uint8 valueDecimals;
            string tag1;
            string tag2;
            bool isRevoked;
            uint64 responseCount;
        }

        event NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash);

        error DecimalsOutOfRange(uint8 decimals);
        error EmptyClients();
        error SummaryPartMismatch(uint256 position);
        error ValueOutOfRange(int128 value);

        constructor(address identityRegistry);

        function giveFeedback(uint256 agentId, int128 value, uint8 valueDecimals, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash) external;
        function getSummary(uint256 agentId, address[] clientAddresses, string tag1, string tag2) external view returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals);
        function getSummaryPart(uint256 agentId, address[] clientAddresses, string tag1, string tag2) external view returns (SummaryPart part);
        function getSummaryPartOfClients(uint256 agentId, uint256 start, uint256 limit, string tag1, string tag2) external view returns (SummaryPart part);
        function getSummaryPartOfIndices(uint256 agentId, address clientAddress, uint64 start, uint64 limit, string tag1, string tag2) external view returns (SummaryPart part);
        function finishSummary(SummaryPart[] parts) external pure returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals);
        function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex) external view returns (int128 value, uint8 valueDecimals, string tag1, string tag2, bool isRevoked);
        function readAllFeedback(uint256 agentId, address[] clientAddresses, string tag1, string tag2, bool includeRevoked) external view returns (address[] clients, uint64[] feedbackIndexes, int128[] values, uint8[] valueDecimals, string[] tag1s, string[] tag2s, bool[] revokedStatuses);
        function readFeedbackWindow(uint256 agentId, address clientAddress, uint64 start, uint64 limit) external view returns (FeedbackRecord[] records);
    }

    /// Requests for validation, and responses to them (R20).
    #[derive(Debug, PartialEq, Eq)]
    contract ValidationRegistry {
        struct SummaryPart {
            uint256 sum;
            uint64 count;
        }

        event ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash);
        event ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, bytes32 indexed requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag);

        error CounterExhausted();
        error ERC721NonexistentToken(uint256 tokenId);
        error NotAuthorized(address caller, uint256 agentId);
        error NotValidator(address caller, address validator);
        error RegistryZero();
        error RequestExists(bytes32 requestHash);
        error RequestNotFound(bytes32 requestHash);
        error ScoreOutOfRange(uint8 score);
        error SummaryPartMismatch(uint256 position);
        error ValidatorZero();

        constructor(address identityRegistry);

        function validationRequest(address validatorAddress, uint256 agentId, string requestURI, bytes32 requestHash) external;
        function validationResponse(bytes32 requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag) external;
        function getValidationStatus(bytes32 requestHash) external view returns (address validatorAddress, uint256 agentId, uint8 response, bytes32 responseHash, string tag, uint256 lastUpdate);
        function hasResponse(bytes32 requestHash) external view returns (bool);
        function getSummary(uint256 agentId, address[] validatorAddresses, string tag) external view returns (uint64 count, uint8 avgResponse);
        function getSummaryPart(uint256 agentId, address[] validatorAddresses, string tag, uint256 offset, uint256 limit) external view returns (SummaryPart part);
        function finishSummary(SummaryPart[] parts) external pure returns (uint64 count, uint8 avgResponse);
        function getValidationCount(uint256 agentId) external view returns (uint64);
        function getAgentValidations(uint256 agentId) external view returns (bytes32[]);
        function getAgentValidationsPage(uint256 agentId, uint256 offset, uint256 limit) external view returns (bytes32[] requestHashes, uint256 total);
        function getValidatorRequests(address validatorAddress) external view returns (bytes32[]);
        function getValidatorRequestsPage(address validatorAddress, uint256 offset, uint256 limit) external view returns (bytes32[] requestHashes, uint256 total);
        function getIdentityRegistry() external view returns (address);
        function getVersion() external pure returns (string);
    }
}
