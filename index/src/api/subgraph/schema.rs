//! The entities of agent0's subgraph, over the tables of the store. In SQL `#` is the name that a query
//! gives the table. Of each entity the key's columns begin with those of what it belongs to.

/// An entity.
#[derive(Debug)]
pub struct Entity {
    /// Its type.
    pub name: &'static str,
    /// The field of a query that answers one; empty if there is none.
    pub one: &'static str,
    /// The fields of a query that answer several.
    pub many: &'static [&'static str],
    /// Where its rows are.
    pub table: &'static str,
    /// Which rows.
    pub condition: &'static str,
    /// The columns that name a row in its deployment.
    pub key: &'static [&'static str],
    /// How an id names it.
    pub id: Id,
    /// Its fields.
    pub fields: &'static [Field],
}

/// How an id names an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// `chain:agent`.
    Agent,
    /// `chain:agent:key`.
    Metadata,
    /// `chain:agent:client:index`, which counts from 1 (R44).
    Feedback,
    /// A feedback's id, and `:number`, which counts from 1.
    Response,
    /// The request's hash.
    Validation,
}

impl Id {
    /// The columns that an id is made of.
    pub const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Agent => &["agent"],
            Self::Metadata => &["agent", "key"],
            Self::Feedback => &["agent", "client", "idx"],
            Self::Response => &["agent", "client", "idx", "number"],
            Self::Validation => &["request"],
        }
    }
}

/// A field of an entity.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it answers.
    pub kind: Kind,
}

/// What a field answers.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// The entity's id.
    Id,
    /// One cell.
    Cell(Cell),
    /// What the entity belongs to, or has one of: its key begins the entity's.
    One(&'static Entity),
    /// What belongs to the entity.
    Many(&'static Entity),
    /// What the feedback's file says.
    FeedbackFile,
    /// Who may act for the agent: by its approval, or by one of its owner's.
    Operators,
    /// The number of the chain.
    Chain,
    /// What the index does not know.
    Unknown,
}

/// One cell of a row.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// What it is.
    pub of: Scalar,
    /// What is answered.
    pub sql: &'static str,
    /// What filters compare, if it is not the same.
    pub compared: Option<&'static str>,
    /// What rows are sorted by, if it is not the same.
    pub sorted: Option<&'static str>,
    /// Whether it can be null.
    pub is_nullable: bool,
}

/// What a cell is in GraphQL, and in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// Bytes.
    Bytes,
    /// Text.
    Text,
    /// A number that JSON has as text.
    BigInt,
    /// A number.
    Int,
    /// A truth value.
    Bool,
    /// An agent's number, as JSON text.
    AgentNumber,
    /// An agent's id.
    AgentName,
    /// A value with its decimals.
    Decimal,
    /// Lines of JSON strings, as a list.
    List,
    /// The address of a CAIP-10 id.
    Address,
    /// The number of the EVM chain of a CAIP-10 id.
    ChainOf,
}

impl Field {
    const fn of(name: &'static str, kind: Kind) -> Self {
        Self { name, kind }
    }

    const fn cell(name: &'static str, of: Scalar, sql: &'static str) -> Self {
        Self::of(
            name,
            Kind::Cell(Cell {
                of,
                sql,
                compared: None,
                sorted: None,
                is_nullable: false,
            }),
        )
    }

    const fn maybe(name: &'static str, of: Scalar, sql: &'static str) -> Self {
        Self::of(
            name,
            Kind::Cell(Cell {
                of,
                sql,
                compared: None,
                sorted: None,
                is_nullable: true,
            }),
        )
    }
}

use Scalar::{
    Address, AgentName, AgentNumber, BigInt, Bool, Bytes, ChainOf, Decimal, Int, List, Text,
};

macro_rules! uri_kind {
    ($uri:literal) => {
        concat!(
            "CASE WHEN SUBSTR(",
            $uri,
            ", 1, 7) = 'ipfs://' THEN 'ipfs' WHEN SUBSTR(",
            $uri,
            ", 1, 8) = 'https://' THEN 'https' WHEN SUBSTR(",
            $uri,
            ", 1, 7) = 'http://' THEN 'http' WHEN SUBSTR(",
            $uri,
            ", 1, 5) = 'data:' THEN 'data' ELSE 'unknown' END"
        )
    };
}

/// An agent.
pub static AGENT: Entity = Entity {
    name: "Agent",
    one: "agent",
    many: &["agents"],
    table: "agent",
    condition: "",
    key: &["agent"],
    id: Id::Agent,
    fields: &[
        Field::of("id", Kind::Id),
        Field::of("chainId", Kind::Chain),
        Field::cell("agentId", AgentNumber, "#.agent"),
        Field::maybe("agentURI", Text, "NULLIF(#.uri, '')"),
        Field::cell("agentURIType", Text, uri_kind!("#.uri")),
        Field::maybe("owner", Bytes, "#.owner"),
        Field::maybe("agentWallet", Bytes, "#.wallet"),
        Field::of("operators", Kind::Operators),
        Field::cell("createdAt", BigInt, "#.created_at"),
        Field::cell("updatedAt", BigInt, "#.updated_at"),
        Field::cell("lastActivity", BigInt, "#.updated_at"),
        // The subgraph knows open feedback alone. Counting it takes as long as reading it.
        Field::cell(
            "totalFeedback",
            BigInt,
            "CASE WHEN #.authorized_clients = 0 THEN #.feedback_count ELSE \
             (SELECT COUNT(*) FROM feedback c WHERE c.deployment = #.deployment \
             AND c.profile = 1 AND c.agent = #.agent) END",
        ),
        Field::of("registrationFile", Kind::One(&REGISTRATION_FILE)),
        Field::of("feedback", Kind::Many(&FEEDBACK)),
        Field::of("validations", Kind::Many(&VALIDATION)),
        Field::of("metadata", Kind::Many(&METADATA)),
    ],
};

/// What an agent's registration file says.
pub static REGISTRATION_FILE: Entity = Entity {
    name: "AgentRegistrationFile",
    one: "agentRegistrationFile",
    many: &["agentRegistrationFiles"],
    table: "registration",
    condition: " AND #.state = 3",
    key: &["agent"],
    id: Id::Agent,
    fields: &[
        Field::of("id", Kind::Id),
        Field::cell(
            "cid",
            Text,
            "(SELECT CASE WHEN SUBSTR(o.uri, 1, 7) = 'ipfs://' THEN SUBSTR(o.uri, 8) ELSE '' END \
             FROM agent o WHERE o.deployment = #.deployment AND o.agent = #.agent)",
        ),
        Field::cell("agentId", AgentName, "#.agent"),
        Field::maybe("name", Text, "#.name"),
        Field::maybe("description", Text, "#.description"),
        Field::maybe("image", Text, "#.image"),
        Field::maybe("active", Bool, "#.active"),
        Field::maybe("x402Support", Bool, "#.x402"),
        Field::maybe("x402support", Bool, "#.x402"),
        Field::cell("supportedTrusts", List, "#.supported_trusts"),
        Field::maybe("mcpEndpoint", Text, "#.mcp"),
        Field::maybe("mcpVersion", Text, "#.mcp_version"),
        Field::maybe("a2aEndpoint", Text, "#.a2a"),
        Field::maybe("a2aVersion", Text, "#.a2a_version"),
        Field::maybe("webEndpoint", Text, "#.web"),
        Field::maybe("oasfEndpoint", Text, "#.oasf"),
        Field::maybe("oasfVersion", Text, "#.oasf_version"),
        Field::maybe("emailEndpoint", Text, "#.email"),
        Field::maybe("ens", Text, "#.ens"),
        Field::maybe("did", Text, "#.did"),
        Field::maybe("agentWallet", Address, "#.agent_wallet"),
        Field::maybe("agentWalletChainId", ChainOf, "#.agent_wallet"),
        Field::cell(
            "hasOASF",
            Bool,
            "CAST(CASE WHEN #.oasf_skills <> '' OR #.oasf_domains <> '' THEN 1 ELSE 0 END AS BIGINT)",
        ),
        Field::cell("oasfSkills", List, "#.oasf_skills"),
        Field::cell("oasfDomains", List, "#.oasf_domains"),
        Field::cell("mcpTools", List, "#.mcp_tools"),
        Field::cell("mcpPrompts", List, "#.mcp_prompts"),
        Field::cell("mcpResources", List, "#.mcp_resources"),
        Field::cell("a2aSkills", List, "#.a2a_skills"),
        Field::of("createdAt", Kind::Unknown),
    ],
};

/// An agent's metadata under one key.
pub static METADATA: Entity = Entity {
    name: "AgentMetadata",
    one: "agentMetadata",
    many: &["agentMetadatas", "agentMetadata_collection"],
    table: "metadata",
    condition: "",
    key: &["agent", "id"],
    id: Id::Metadata,
    fields: &[
        Field::of("id", Kind::Id),
        Field::of("agent", Kind::One(&AGENT)),
        Field::cell("key", Text, "#.key"),
        Field::cell("value", Bytes, "#.value"),
        Field::cell("updatedAt", BigInt, "#.updated_at"),
    ],
};

/// A feedback of the open profile: authorized feedback has ids of its own, and no value or endpoint.
pub static FEEDBACK: Entity = Entity {
    name: "Feedback",
    one: "feedback",
    many: &["feedbacks"],
    table: "feedback",
    // As an expression, it leaves the index by place to be used.
    condition: " AND +#.profile = 1",
    key: &["agent", "client", "idx"],
    id: Id::Feedback,
    fields: &[
        Field::of("id", Kind::Id),
        Field::of("agent", Kind::One(&AGENT)),
        Field::cell("clientAddress", Bytes, "#.client"),
        Field::cell("feedbackIndex", BigInt, "#.idx"),
        Field::of(
            "value",
            Kind::Cell(Cell {
                of: Decimal,
                sql: "#.value || '/' || #.decimals",
                compared: Some("#.approx"),
                sorted: Some("#.approx"),
                is_nullable: false,
            }),
        ),
        Field::maybe("tag1", Text, "NULLIF(#.tag1, '')"),
        Field::maybe("tag2", Text, "NULLIF(#.tag2, '')"),
        Field::maybe("endpoint", Text, "NULLIF(#.endpoint, '')"),
        Field::maybe("feedbackURI", Text, "NULLIF(#.uri, '')"),
        Field::cell("feedbackURIType", Text, uri_kind!("#.uri")),
        Field::cell("feedbackHash", Bytes, "#.hash"),
        Field::cell(
            "isRevoked",
            Bool,
            "CAST(CASE WHEN #.revoked_at IS NULL THEN 0 ELSE 1 END AS BIGINT)",
        ),
        Field::of(
            "createdAt",
            Kind::Cell(Cell {
                of: BigInt,
                sql: "#.at",
                compared: None,
                // Places are in the order of time, and indexed.
                sorted: Some("#.place"),
                is_nullable: false,
            }),
        ),
        Field::maybe("revokedAt", BigInt, "#.revoked_at"),
        Field::of("feedbackFile", Kind::FeedbackFile),
        Field::of("responses", Kind::Many(&RESPONSE)),
    ],
};

/// A response to a feedback of the open profile.
pub static RESPONSE: Entity = Entity {
    name: "FeedbackResponse",
    one: "feedbackResponse",
    many: &["feedbackResponses"],
    table: "response",
    condition: " AND #.profile = 1",
    key: &["agent", "client", "idx", "number"],
    id: Id::Response,
    fields: &[
        Field::of("id", Kind::Id),
        Field::of("feedback", Kind::One(&FEEDBACK)),
        Field::cell("responder", Bytes, "#.responder"),
        Field::maybe("responseUri", Text, "NULLIF(#.uri, '')"),
        Field::maybe("responseURI", Text, "NULLIF(#.uri, '')"),
        Field::cell("responseHash", Bytes, "#.hash"),
        Field::cell("createdAt", BigInt, "#.at"),
    ],
};

/// A validation.
pub static VALIDATION: Entity = Entity {
    name: "Validation",
    one: "validation",
    many: &["validations"],
    table: "validation",
    condition: "",
    key: &["agent", "request", "validator"],
    id: Id::Validation,
    fields: &[
        Field::of("id", Kind::Id),
        Field::of("agent", Kind::One(&AGENT)),
        Field::cell("validatorAddress", Bytes, "#.validator"),
        Field::maybe("requestUri", Text, "NULLIF(#.uri, '')"),
        Field::maybe("requestURI", Text, "NULLIF(#.uri, '')"),
        Field::cell("requestHash", Bytes, "#.request"),
        // The subgraph's: 0 means pending, too.
        Field::cell("response", Int, "COALESCE(#.score, 0)"),
        Field::maybe("responseUri", Text, "NULLIF(#.answer_uri, '')"),
        Field::maybe("responseURI", Text, "NULLIF(#.answer_uri, '')"),
        Field::maybe("responseHash", Bytes, "#.answer_hash"),
        Field::maybe("tag", Text, "NULLIF(#.answer_tag, '')"),
        Field::cell(
            "status",
            Text,
            "CASE WHEN #.score IS NULL THEN 'PENDING' ELSE 'COMPLETED' END",
        ),
        Field::cell("createdAt", BigInt, "#.requested_at"),
        Field::cell("updatedAt", BigInt, "#.updated_at"),
    ],
};

/// Every entity that a query can begin with.
pub static ENTITIES: [&Entity; 6] = [
    &AGENT,
    &REGISTRATION_FILE,
    &METADATA,
    &FEEDBACK,
    &RESPONSE,
    &VALIDATION,
];

impl Entity {
    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|it| it.name == name)
    }
}

/// The fields of a feedback's file: what every dialect of it can say.
pub const FEEDBACK_FILE: [&str; 25] = [
    "id",
    "cid",
    "feedbackId",
    "agentRegistry",
    "agentId",
    "clientAddress",
    "createdAtIso",
    "valueRaw",
    "valueDecimals",
    "text",
    "mcpTool",
    "mcpPrompt",
    "mcpResource",
    "a2aSkills",
    "a2aContextId",
    "a2aTaskId",
    "oasfSkills",
    "oasfDomains",
    "proofOfPaymentFromAddress",
    "proofOfPaymentToAddress",
    "proofOfPaymentChainId",
    "proofOfPaymentTxHash",
    "tag1",
    "tag2",
    "createdAt",
];
