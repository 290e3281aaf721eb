//! Conditions on agents' registration files.
use crate::{
    StoreError,
    store::{Cell, DeploymentId, Engine, Sql, Store, Value},
    table::Lines,
};

/// What an agent's registration file must say. A file that was not read says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileFilter {
    /// Whether it was read.
    pub is_read: Option<bool>,
    /// Whether the agent is in operation.
    pub active: Option<bool>,
    /// Whether it takes x402 payments.
    pub x402: Option<bool>,
    /// Whether there are these services.
    pub services: Vec<(Service, bool)>,
    /// Whether there is an endpoint of any of them.
    pub has_services: Option<bool>,
    /// Texts that a field contains, in either case of ASCII letters.
    pub contains: Vec<(TextField, String)>,
    /// A text that the name or the description contains.
    pub keyword: Option<String>,
    /// Lists that have one of these entries.
    pub lists: Vec<(ListField, Vec<String>)>,
}

/// A kind of service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Service {
    Mcp,
    A2a,
    Web,
    Oasf,
}

/// A field with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TextField {
    Name,
    Description,
    Mcp,
    A2a,
    Web,
    Ens,
    Did,
}

/// A field with a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ListField {
    Trust,
    A2aSkills,
    McpTools,
    McpPrompts,
    McpResources,
    OasfSkills,
    OasfDomains,
}

impl ListField {
    const fn column(self) -> &'static str {
        match self {
            Self::Trust => "supported_trusts",
            Self::A2aSkills => "a2a_skills",
            Self::McpTools => "mcp_tools",
            Self::McpPrompts => "mcp_prompts",
            Self::McpResources => "mcp_resources",
            Self::OasfSkills => "oasf_skills",
            Self::OasfDomains => "oasf_domains",
        }
    }
}

impl Service {
    const ALL: [Self; 4] = [Self::Mcp, Self::A2a, Self::Web, Self::Oasf];

    const fn column(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::A2a => "a2a",
            Self::Web => "web",
            Self::Oasf => "oasf",
        }
    }

    /// What a file says that has it: an endpoint; of OASF, as agent0 means it, a skill or a domain.
    fn condition(self) -> String {
        match self {
            Self::Oasf => "(r.oasf_skills <> '' OR r.oasf_domains <> '')".to_owned(),
            Self::Mcp | Self::A2a | Self::Web => format!("r.{} IS NOT NULL", self.column()),
        }
    }
}

impl TextField {
    const fn column(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Mcp => "mcp",
            Self::A2a => "a2a",
            Self::Web => "web",
            Self::Ens => "ens",
            Self::Did => "did",
        }
    }
}

/// Of the agent `a` of a query.
const OF_AGENT: &str = "EXISTS (SELECT 1 FROM registration r \
                        WHERE r.deployment = a.deployment AND r.agent = a.agent AND r.state = 3";

impl FileFilter {
    /// Returns whether there is no condition.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Appends the conditions on the agent that a query calls `a`.
    pub(crate) fn restrict(&self, sql: &mut Sql) {
        if let Some(is_read) = self.is_read {
            exists(sql, is_read, "", []);
        }
        for (column, wanted) in [("active", self.active), ("x402", self.x402)] {
            if let Some(wanted) = wanted {
                let condition = format!(" AND r.{column} = ?");
                exists(sql, true, &condition, [wanted.to_value()]);
            }
        }
        for (service, has) in &self.services {
            let condition = format!(" AND {}", service.condition());
            exists(sql, *has, &condition, []);
        }
        if let Some(has) = self.has_services {
            let any = Service::ALL.map(|it| format!("r.{} IS NOT NULL", it.column()));
            exists(sql, has, &format!(" AND ({})", any.join(" OR ")), []);
        }
        for (field, text) in &self.contains {
            let condition = format!(" AND LOWER(r.{}) LIKE ? ESCAPE '!'", field.column());
            exists(sql, true, &condition, [pattern(text)]);
        }
        if let Some(text) = &self.keyword {
            let condition = " AND (LOWER(r.name) LIKE ? ESCAPE '!' \
                             OR LOWER(r.description) LIKE ? ESCAPE '!')";
            exists(sql, true, condition, [pattern(text), pattern(text)]);
        }
        for (field, entries) in &self.lists {
            let column = field.column();
            // LIKE takes letters of either case for the same in SQLite.
            let has = format!("REPLACE(r.{column}, ?, '') <> r.{column}");
            let any = vec![has; entries.len()].join(" OR ");
            let lines = entries.iter().map(|it| Lines::line(it).to_value());
            exists(sql, true, &format!(" AND ({any})"), lines);
        }
    }
}

fn exists(sql: &mut Sql, has: bool, condition: &str, values: impl IntoIterator<Item = Value>) {
    sql.push(if has { " AND " } else { " AND NOT " })
        .push(OF_AGENT)
        .bind(condition, values)
        .push(")");
}

/// LIKE's own characters are taken as they are.
fn pattern(text: &str) -> Value {
    let mut escaped = String::from("%");
    for character in text.chars() {
        if matches!(character, '%' | '_' | '!') {
            escaped.push('!');
        }
        escaped.push(character.to_ascii_lowercase());
    }
    escaped.push('%');
    escaped.to_value()
}

impl<E: Engine> Store<E> {
    /// Returns of how many agents the registration file was not fetched yet.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn waiting_registrations(&mut self, deployment: DeploymentId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM registration WHERE deployment = $1 AND state = 0";
        self.number(sql, &[deployment.0.to_value()])
    }
}
