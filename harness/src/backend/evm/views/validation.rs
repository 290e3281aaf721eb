//! The validation registry (R20).
use super::{
    book::{Book, VERSION},
    feedback::bound,
    question::{Expected, Questions},
};
use crate::{
    backend::{
        canonical_events::padded,
        views::{Draw, VALIDATION},
    },
    model::{Actor, Agent, Bytes32, PaddedTag, ValidationsState, average, window},
};
use alloy::primitives::{Address, U256};
use concord_canonical::{ErrorClass, tag};
use concord_registry::evm::abi::ValidationRegistry as Validation;
use serde_json::{Value, json};

/// A hash that nobody asks for.
const UNKNOWN: Bytes32 = Bytes32([0xa5; 32]);

pub(super) fn ask(book: &Book<'_>, registry: Address, draw: &mut Draw, q: &mut Questions) {
    let asked = Asked {
        book,
        registry: (VALIDATION, registry),
    };
    asked.constants(q);
    asked.requests(q);
    for (agent, state) in book.agents() {
        let mut aside = draw.clone();
        let draw = book.draw_for(&agent, draw, &mut aside);
        let nothing = ValidationsState::default();
        let validations = state.map_or(&nothing, |it| &it.validations);
        asked.agent(&agent, validations, draw, q);
        asked.summaries(&agent, validations, draw, q);
    }
    for validator in &book.actors {
        asked.validator(validator, draw, q);
    }
}

/// What is asked of the registry.
struct Asked<'a> {
    book: &'a Book<'a>,
    registry: (&'static str, Address),
}

impl Asked<'_> {
    fn constants(&self, q: &mut Questions) {
        let version = Ok(json!(VERSION));
        let call = Validation::getVersionCall {};
        q.ask(self.registry, &call, json!({}), version, |_, it| {
            Ok(json!(it))
        });
        let identity = Ok(json!(self.book.registries.identity.to_string()));
        let call = Validation::getIdentityRegistryCall {};
        q.ask(self.registry, &call, json!({}), identity, |_, it| {
            Ok(json!(it.to_string()))
        });
        if self.book.is_ours() {
            self.impossible_part(q);
        }
    }

    /// A sum that is more than the count allows.
    fn impossible_part(&self, q: &mut Questions) {
        let part = Validation::SummaryPart {
            sum: U256::from(101),
            count: 1,
        };
        let call = Validation::finishSummaryCall { parts: vec![part] };
        let arguments = json!({ "parts": [{ "count": 1, "sum": "101" }] });
        let expected = Err(ErrorClass::BadRequest);
        q.ask(self.registry, &call, arguments, expected, |_, it| {
            Ok(json!({ "count": it.count, "average": it.avgResponse }))
        });
    }

    /// Each request by its hash, and one that is not there.
    fn requests(&self, q: &mut Questions) {
        let known = self.book.records.requests.iter().map(|it| it.request);
        for request in known.chain([UNKNOWN]) {
            self.status(&request, q);
            if self.book.is_ours() {
                let call = Validation::hasResponseCall {
                    requestHash: self.book.hash(&request),
                };
                let arguments = json!({ "request": request });
                let expected = self.of_request(&request, |_, _, it| json!(it.answer.is_some()));
                q.ask(self.registry, &call, arguments, expected, |_, it| {
                    Ok(json!(it))
                });
            }
        }
    }

    fn of_request(
        &self,
        request: &Bytes32,
        read: impl Fn(&Agent, &Actor, &crate::model::ValidationState) -> Value,
    ) -> Expected {
        let mut asked = self.book.records.requests.iter();
        let found = asked.find(|it| it.request == *request).and_then(|it| {
            let state = self.book.state.agents.get(&it.agent)?;
            let validation = state.validations.find(request, &it.validator)?;
            Some(read(&it.agent, &it.validator, validation))
        });
        found.ok_or(ErrorClass::RequestNotFound)
    }

    fn status(&self, request: &Bytes32, q: &mut Questions) {
        let expected = self.of_request(request, |agent, validator, it| {
            let answer = it.answer.as_ref();
            json!({
                "agent": agent, "validator": validator, "time": it.time,
                "score": answer.map_or(0, |it| it.score),
                "hash": answer.map_or(Bytes32::default(), |it| it.hash),
                "tag": answer.map_or(PaddedTag::default(), |it| it.tag),
            })
        });
        let call = Validation::getValidationStatusCall {
            requestHash: self.book.hash(request),
        };
        let arguments = json!({ "request": request });
        q.ask(self.registry, &call, arguments, expected, |reader, it| {
            Ok(json!({
                "agent": reader.agent(it.agentId), "validator": reader.actor(it.validatorAddress),
                "time": reader.seconds(it.lastUpdate)?, "score": it.response,
                "hash": Bytes32(it.responseHash.0), "tag": padded(&it.tag)?,
            }))
        });
    }

    fn agent(&self, agent: &Agent, state: &ValidationsState, draw: &mut Draw, q: &mut Questions) {
        let requests: Vec<_> = self
            .book
            .records
            .requests_of(agent)
            .map(|it| *it.0)
            .collect();
        let id = self.book.id(agent);
        let call = Validation::getAgentValidationsCall { agentId: id };
        let named = json!({ "agent": agent });
        let all = Ok(json!(requests));
        q.ask(self.registry, &call, named.clone(), all, |reader, it| {
            Ok(reader.requests(it))
        });
        if !self.book.is_ours() {
            return;
        }
        let call = Validation::getValidationCountCall { agentId: id };
        let count = Ok(json!(state.answered));
        q.ask(self.registry, &call, named, count, |_, it| Ok(json!(it)));
        let (start, limit) = draw.window(requests.len() as u64);
        let call = Validation::getAgentValidationsPageCall {
            agentId: id,
            offset: bound(start),
            limit: bound(limit),
        };
        let arguments = json!({ "agent": agent, "offset": start, "limit": limit });
        let page = Ok(page(&requests, start, limit));
        q.ask(self.registry, &call, arguments, page, |reader, it| {
            Ok(json!({ "requests": reader.requests(it.requestHashes), "total": it.total.to_string() }))
        });
    }

    fn validator(&self, validator: &Actor, draw: &mut Draw, q: &mut Questions) {
        let asked = self.book.records.requests.iter();
        let own = asked.filter(|it| it.validator == *validator);
        let requests: Vec<_> = own.map(|it| it.request).collect();
        let address = self.book.address(validator);
        let call = Validation::getValidatorRequestsCall {
            validatorAddress: address,
        };
        let all = Ok(json!(requests));
        let named = json!({ "validator": validator });
        q.ask(self.registry, &call, named, all, |reader, it| {
            Ok(reader.requests(it))
        });
        if !self.book.is_ours() {
            return;
        }
        let (start, limit) = draw.window(requests.len() as u64);
        let call = Validation::getValidatorRequestsPageCall {
            validatorAddress: address,
            offset: bound(start),
            limit: bound(limit),
        };
        let arguments = json!({ "validator": validator, "offset": start, "limit": limit });
        let page = Ok(page(&requests, start, limit));
        q.ask(self.registry, &call, arguments, page, |reader, it| {
            Ok(json!({ "requests": reader.requests(it.requestHashes), "total": it.total.to_string() }))
        });
    }

    /// Of everybody, with a drawn filter, and by parts.
    fn summaries(
        &self,
        agent: &Agent,
        state: &ValidationsState,
        draw: &mut Draw,
        q: &mut Questions,
    ) {
        let requests: Vec<_> = self.book.records.requests_of(agent).collect();
        let everybody = (Vec::new(), PaddedTag::default());
        let drawn = (draw.list(&self.book.actors, 3), some_tag(state, draw));
        for (validators, tag) in [everybody, drawn] {
            let totals = state.totals(requests.iter().copied(), &validators, tag);
            self.summary(agent, &validators, tag, totals, q);
            if self.book.is_ours() {
                let (start, limit) = draw.window(requests.len() as u64);
                let part = window(&requests, start, limit);
                let part = state.totals(part.iter().copied(), &validators, tag);
                self.part(agent, (&validators, tag), (start, limit), part, q);
                self.finished(totals, part, q);
            }
        }
    }

    fn summary(
        &self,
        agent: &Agent,
        validators: &[Actor],
        tag: PaddedTag,
        (count, sum): (u64, u64),
        q: &mut Questions,
    ) {
        let call = Validation::getSummaryCall {
            agentId: self.book.id(agent),
            validatorAddresses: self.book.addresses(validators),
            tag: text(tag),
        };
        let arguments = json!({ "agent": agent, "validators": validators, "tag": tag });
        let expected = Ok(json!({ "count": count, "average": average(count, sum) }));
        q.ask(self.registry, &call, arguments, expected, |_, it| {
            Ok(json!({ "count": it.count, "average": it.avgResponse }))
        });
    }

    fn part(
        &self,
        agent: &Agent,
        (validators, tag): (&[Actor], PaddedTag),
        (start, limit): (u64, u64),
        (count, sum): (u64, u64),
        q: &mut Questions,
    ) {
        let call = Validation::getSummaryPartCall {
            agentId: self.book.id(agent),
            validatorAddresses: self.book.addresses(validators),
            tag: text(tag),
            offset: bound(start),
            limit: bound(limit),
        };
        let arguments = json!({
            "agent": agent, "validators": validators, "tag": tag, "offset": start, "limit": limit,
        });
        let expected = Ok(json!({ "count": count, "sum": sum.to_string() }));
        q.ask(self.registry, &call, arguments, expected, |_, it| {
            Ok(json!({ "count": it.count, "sum": it.sum.to_string() }))
        });
    }

    /// A part and the rest of the whole make the whole.
    fn finished(&self, whole: (u64, u64), part: (u64, u64), q: &mut Questions) {
        let rest = (
            whole.0.saturating_sub(part.0),
            whole.1.saturating_sub(part.1),
        );
        let native = |(count, sum): (u64, u64)| Validation::SummaryPart {
            sum: U256::from(sum),
            count,
        };
        let call = Validation::finishSummaryCall {
            parts: vec![native(part), native(rest)],
        };
        let (count, sum) = whole;
        let parts =
            [part, rest].map(|(count, sum)| json!({ "count": count, "sum": sum.to_string() }));
        let arguments = json!({ "parts": parts });
        let expected = Ok(json!({ "count": count, "average": average(count, sum) }));
        q.ask(self.registry, &call, arguments, expected, |_, it| {
            Ok(json!({ "count": it.count, "average": it.avgResponse }))
        });
    }
}

fn page(requests: &[Bytes32], start: u64, limit: u64) -> Value {
    let page = window(requests, start, limit);
    json!({ "requests": page, "total": requests.len().to_string() })
}

/// A tag that an answer has, or one that none has.
fn some_tag(state: &ValidationsState, draw: &mut Draw) -> PaddedTag {
    let all = state.requests.values().flat_map(|it| it.values());
    let answers = all.filter_map(|it| it.answer.as_ref());
    let mut tags: Vec<_> = answers.map(|it| it.tag).collect();
    tags.extend("no-such-tag".parse::<PaddedTag>());
    draw.pick(&tags).unwrap_or_default()
}

/// As the contract takes a tag (R14). One that is not text was never stored there.
fn text(tag: PaddedTag) -> String {
    tag::decode_padded(&tag.0).map_or_else(|_| String::new(), |tag| tag.to_string())
}
