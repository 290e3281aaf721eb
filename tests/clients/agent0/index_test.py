"""agent0-sdk for Python with `concord index` in its subgraph's place. index.test.mjs starts both, and says where they are."""

import json
import os
import unittest

from agent0_sdk import SDK
from agent0_sdk.core.subgraph_client import SubgraphClient

WORLD = json.loads(os.environ["WORLD"])
CHAIN = WORLD["chain"]
ONE, TWO, THREE = (f"{CHAIN}:{number}" for number in (1, 2, 3))
CLIENT = WORLD["addresses"]["client"]


class Index(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = SubgraphClient(WORLD["subgraph"])
        cls.sdk = SDK(
            chainId=CHAIN,
            rpcUrl=WORLD["rpc"],
            registryOverrides={CHAIN: {"IDENTITY": WORLD["identity"], "REPUTATION": WORLD["reputation"]}},
            subgraphOverrides={CHAIN: WORLD["subgraph"]},
        )

    def found(self, **filters):
        return sorted(it.agentId for it in self.sdk.searchAgents({"chains": [CHAIN], **filters}))

    def test_an_agent_by_its_id(self):
        agent = self.sdk.getAgent(ONE)
        self.assertEqual(agent.name, "Weather Oracle")
        self.assertEqual(agent.mcpTools, ["forecast", "history"])
        self.assertEqual(agent.supportedTrusts, ["reputation", "tee-attestation"])

    def test_agents_by_filters(self):
        self.assertEqual(self.found(), [ONE, TWO])  # its default is those with a file
        self.assertEqual(self.found(hasRegistrationFile=False), [THREE])
        self.assertEqual(self.found(name="weather", active=True, hasOASF=True, mcpTools=["history"]), [ONE])
        self.assertEqual(self.found(metadataValue={"key": "category", "value": "weather"}), [ONE])
        self.assertEqual(self.found(feedback={"minValue": 90}), [TWO])
        self.assertEqual(self.found(feedback={"hasNoFeedback": True}, hasRegistrationFile=False), [THREE])

    def test_the_older_agent_queries(self):
        agents = self.client.get_agents(where={"agentId": "1"})
        self.assertEqual([it["registrationFile"]["name"] for it in agents], ["Weather Oracle"])
        self.assertIsNone(agents[0]["registrationFile"]["agentWallet"])
        agent = self.client.get_agent_by_id(ONE)
        self.assertEqual(agent["registrationFile"]["mcpVersion"], "2025-06-18")
        self.assertIsNone(self.client.get_agent_by_id(f"{CHAIN}:99"))

    def test_a_feedback_by_its_id(self):
        feedback = self.client.get_feedback_by_id(f"{ONE}:{CLIENT.lower()}:1")
        self.assertEqual(feedback["value"], "87.5")
        self.assertEqual(feedback["feedbackIndex"], "1")
        self.assertEqual(feedback["feedbackFile"]["text"], WORLD["review"])
        self.assertEqual([it["responseURI"] for it in feedback["responses"]], ["ipfs://response"])
        self.assertIsNone(self.client.get_feedback_by_id(f"{ONE}:{CLIENT.lower()}:3"))

    def test_the_feedback_of_an_agent(self):
        of_one = self.client.get_feedback_for_agent(ONE)
        self.assertEqual([it["value"] for it in of_one], ["-10", "87.5"])
        self.assertEqual(self.client.get_feedback_for_agent(f"{CHAIN}:99"), [])

    def test_feedback_by_filters(self):
        values = sorted(it.value for it in self.sdk.searchFeedback(agentId=ONE))
        self.assertEqual(values, [-10.0, 87.5])
        tagged = self.sdk.searchFeedback(agentId=ONE, tags=["speed"])
        self.assertEqual([(it.value, it.text) for it in tagged], [(87.5, WORLD["review"])])
        self.assertEqual(self.sdk.getFeedback(ONE, CLIENT, 1).value, 87.5)

    def test_a_summary(self):
        summary = self.sdk.getReputationSummary(ONE)
        self.assertEqual((summary["count"], summary["averageValue"]), (2, 38.75))

    def test_statistics(self):
        stats = self.client.get_agent_stats(ONE)
        self.assertEqual(stats["totalFeedback"], "3")
        self.assertEqual(stats["averageValidationScore"], "91")
        protocol = self.client.get_protocol_stats(CHAIN)
        self.assertEqual(protocol["reputationRegistry"], WORLD["reputation"].lower())
        self.assertEqual((protocol["totalAgents"], protocol["totalValidations"]), ("3", "1"))
        self.assertEqual(protocol["tags"], ["quality", "speed", "uptime"])
        self.assertEqual(self.client.get_global_stats()["totalFeedback"], "4")

    def test_what_the_subgraph_lacks_is_named(self):
        with self.assertRaisesRegex(ValueError, "has no field `stars`"):
            self.client.query("{ agents { stars } }")


if __name__ == "__main__":
    unittest.main()
