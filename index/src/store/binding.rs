//! ERC-8217: which bindings agents declare, and what the contracts answered that they name.
use super::{Cell, Cells, DeploymentId, Engine, Store, Value};
use crate::{
    StoreError,
    binding::{Binding, BindingRead, BoundToken, KEY, TokenStandard},
    state::Subject,
    table::{Agent, AllMetadata, MetadataKey},
};
use concord_registry::event::{AccountId, AgentId};

impl<E: Engine> Store<E> {
    /// Returns the binding that an agent declares. The draft describes EVM chains only.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn binding(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
        row: &Agent,
    ) -> Result<Option<Binding>, StoreError> {
        let Some(declared) = self.declared_binding(deployment, agent)? else {
            return Ok(None);
        };
        let read = self.binding_read(deployment, agent)?;
        Ok(Binding::of(&declared, row, read))
    }

    fn declared_binding(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let AgentId::Evm(_) = agent else {
            return Ok(None);
        };
        let found = self.row::<AllMetadata>(deployment, &MetadataKey::of(agent, KEY))?;
        Ok(found.map(|it| it.value))
    }

    /// Returns the contracts to ask for these agents.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn declared_bindings(
        &mut self,
        deployment: DeploymentId,
        subjects: &[Subject],
    ) -> Result<Vec<(AgentId, [u8; 20])>, StoreError> {
        let mut found = Vec::new();
        for subject in subjects {
            if let Subject::Agent(agent) = subject
                && let Some(declared) = self.declared_binding(deployment, *agent)?
                && let Ok(contract) = declared.try_into()
            {
                found.push((*agent, contract));
            }
        }
        Ok(found)
    }

    /// Keeps what binding contracts answered, in place of what they answered before.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn note_bindings(
        &mut self,
        deployment: DeploymentId,
        bindings: &[BindingRead],
    ) -> Result<(), StoreError> {
        if bindings.is_empty() {
            return Ok(());
        }
        self.transaction(deployment, |store| {
            for it in bindings {
                store.forget_binding(deployment, it.agent)?;
                store.insert_binding(deployment, it)?;
            }
            Ok(())
        })
    }

    fn insert_binding(
        &mut self,
        deployment: DeploymentId,
        it: &BindingRead,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO binding \
                   (deployment, agent, contract, standard, token_contract, token, block) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let [standard, token_contract, token] = it.token.map_or([const { Value::Null }; 3], |it| {
            [
                (it.standard as u8).to_value(),
                AccountId::Evm(it.contract).to_value(),
                it.id.to_value(),
            ]
        });
        let values = [
            deployment.0.to_value(),
            it.agent.to_value(),
            AccountId::Evm(it.contract).to_value(),
            standard,
            token_contract,
            token,
            it.block.to_value(),
        ];
        self.engine.execute(sql, &values)
    }

    pub(super) fn forget_binding(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM binding WHERE deployment = $1 AND agent = $2";
        let values = [deployment.0.to_value(), agent.to_value()];
        self.engine.execute(sql, &values)
    }

    fn binding_read(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<Option<BindingRead>, StoreError> {
        let sql = "SELECT contract, standard, token_contract, token, block FROM binding \
                   WHERE deployment = $1 AND agent = $2";
        let values = [deployment.0.to_value(), agent.to_value()];
        let mut found = None;
        self.each(sql, &values, "binding", &mut |cells| {
            let contract = account(cells.take("contract")?, "contract")?;
            found = Some(BindingRead {
                agent,
                contract,
                token: read_token(cells)?,
                block: cells.take("block")?,
            });
            Ok(())
        })?;
        Ok(found)
    }
}

fn read_token(cells: &mut Cells<'_>) -> Result<Option<BoundToken>, StoreError> {
    let standard: Option<u8> = cells.take("standard")?;
    let contract: Option<AccountId> = cells.take("token_contract")?;
    let id: Option<[u8; 32]> = cells.take("token")?;
    let (Some(standard), Some(contract), Some(id)) = (standard, contract, id) else {
        return Ok(None);
    };
    let standard = TokenStandard::of(standard).ok_or_else(|| malformed("standard"))?;
    Ok(Some(BoundToken {
        standard,
        contract: account(contract, "token_contract")?,
        id,
    }))
}

fn account(of: AccountId, column: &'static str) -> Result<[u8; 20], StoreError> {
    match of {
        AccountId::Evm(address) => Ok(address),
        AccountId::Svm(_) => Err(malformed(column)),
    }
}

fn malformed(column: &'static str) -> StoreError {
    StoreError::Malformed {
        table: "binding",
        column,
    }
}
