// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IAuthorizedReputationRegistry} from "../../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {FeedbackAuthWords} from "../../actors/FeedbackAuthWords.sol";
import {GasTable} from "./GasTable.sol";
import {Registries} from "../../Registries.sol";

/// @dev "canonical" is the first draft's registry here, which has the same calls and stands behind no proxy.
abstract contract AuthorizedGas is GasTable {
    bytes32 private constant TAG1 = "quality";
    bytes32 private constant TAG2 = "latency";

    IAuthorizedReputationRegistry private authorized;
    Vm.Wallet private granter;
    uint256 private granted;

    function _measureAuthorized() internal {
        authorized = Registries.newAuthorizedReputationRegistry(address(identity), false);
        granter = vm.createWallet("owner of the granted");
        granted = _register(granter.addr);
        _giveGranted(makeAddr("earlier"), TAG1, TAG2, URI, FILE_HASH);
        _measureGranted();
        _measureAfterGranted();
        _measureGrantedViews();
        _assertTable("authorized reputation", "AuthorizedReputationRegistry.gas.json");
    }

    function _measureGranted() private {
        _giveGranted(otherClient, 0, 0, "", 0);
        _row("giveFeedback", "no tags, new client", 169_598, NO_BAR);
        _giveGranted(otherClient, 0, 0, "", 0);
        _row("giveFeedback", "no tags, again", 87_786, NO_BAR);
        _giveGranted(client, TAG1, TAG2, "", 0);
        _row("giveFeedback", "two 7-byte tags, new client", 192_466, NO_BAR);
        _giveGranted(client, TAG1, TAG2, "", 0);
        _row("giveFeedback", "two 7-byte tags, again", NOT_MEASURED, NO_BAR);
        _giveGranted(makeAddr("a"), TAG1, TAG2, URI, FILE_HASH);
        _row("giveFeedback", "7-byte tags, URI 66, hash, new client", 194_837, NO_BAR);
    }

    function _measureAfterGranted() private {
        bytes memory response = abi.encodeCall(authorized.appendResponse, (granted, client, 1, URI, FILE_HASH));
        _transact(client, address(authorized), abi.encodeCall(authorized.revokeFeedback, (granted, 1)));
        _row("revokeFeedback", "", 48_462, NO_BAR);
        _transact(stranger, address(authorized), response);
        _row("appendResponse", "URI 66, hash; first", 120_429, NO_BAR);
        _transact(stranger, address(authorized), response);
        _row("appendResponse", "URI 66, hash; same responder again", NOT_MEASURED, NO_BAR);
    }

    function _measureGrantedViews() private {
        granted = _register(granter.addr);
        for (uint256 i = 0; i < 100; ++i) {
            _giveGranted(makeAddr(string.concat("granted ", vm.toString(i))), TAG1, TAG2, "", 0);
        }
        _look(address(authorized), abi.encodeWithSignature("getSummary(uint256)", granted));
        _row("getSummary(uint256)", "100 clients", NOT_MEASURED, NO_BAR);
        _summaryOfGranted("100 clients, no filter", 0, 0, 959_313, 65);
        _summaryOfGranted("100 clients, both tags", TAG1, TAG2, NOT_MEASURED, NO_BAR);
        _look(
            address(authorized),
            abi.encodeCall(authorized.getTotalsOfClients, (granted, 0, type(uint256).max, TAG1, TAG2))
        );
        _row("getTotalsOfClients", "100 clients, both tags", NOT_MEASURED, NO_BAR);
        for (uint256 i = 0; i < 100; ++i) {
            _giveGranted(client, TAG1, TAG2, "", 0);
        }
        _look(address(authorized), abi.encodeCall(authorized.getTotalsOfIndices, (granted, client, 1, 100, TAG1, TAG2)));
        _row("getTotalsOfIndices", "100 feedbacks of one client, both tags", NOT_MEASURED, NO_BAR);
    }

    function _summaryOfGranted(string memory what, bytes32 tag1, bytes32 tag2, uint256 canonical, uint256 bar) private {
        _look(
            address(authorized),
            abi.encodeWithSignature(
                "getSummary(uint256,address[],bytes32,bytes32)", granted, new address[](0), tag1, tag2
            )
        );
        _row("getSummary", what, canonical, bar);
    }

    function _giveGranted(address from, bytes32 tag1, bytes32 tag2, string memory uri, bytes32 hash) private {
        FeedbackAuthWords memory auth = FeedbackAuthWords({
            agentId: granted,
            clientAddress: uint160(from),
            indexLimit: 100,
            expiry: block.timestamp + 1 hours,
            chainId: block.chainid,
            identityRegistry: uint160(address(identity)),
            signerAddress: uint160(granter.addr)
        });
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(granter, auth.eip712Digest(block.chainid, address(authorized)));
        bytes memory blob = bytes.concat(auth.fields(), abi.encodePacked(r, s, v));
        _transact(
            from,
            address(authorized),
            abi.encodeCall(authorized.giveFeedback, (granted, 95, tag1, tag2, uri, hash, blob))
        );
    }
}
