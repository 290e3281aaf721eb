// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";
import {Vm} from "forge-std/Vm.sol";

import {IIdentityRegistry as IIdentity} from "../../src/interfaces/IIdentityRegistry.sol";
import {WalletConsent} from "../actors/WalletConsent.sol";

/// @dev Sets, unsets and replays wallets of agents that change hands, and keeps the plainest record of what should have
/// come of it.
contract WalletHandler is Test {
    uint256 private constant PEOPLE = 3;
    uint256 private constant AGENTS = 2;

    IIdentity public immutable IDENTITY;

    Vm.Wallet[] private people; // owners and wallets alike
    WalletConsent[] private used;
    mapping(uint256 agentId => address) public expectedOwner;
    mapping(uint256 agentId => address) public expectedWallet;
    mapping(string operation => uint256) public calls;
    uint256 private consents;

    constructor(IIdentity identity) {
        IDENTITY = identity;
        for (uint256 i = 0; i < PEOPLE; ++i) {
            people.push(vm.createWallet(string.concat("person ", vm.toString(i))));
        }
        for (uint256 i = 0; i < AGENTS; ++i) {
            vm.prank(people[i].addr);
            uint256 agentId = IDENTITY.register("");
            expectedOwner[agentId] = people[i].addr;
            expectedWallet[agentId] = people[i].addr;
        }
    }

    function transfer(uint256 agentSeed, uint256 toSeed) external {
        uint256 agentId = _agent(agentSeed);
        address to = people[toSeed % PEOPLE].addr;
        address from = expectedOwner[agentId];
        vm.prank(from);
        IDENTITY.transferFrom(from, to, agentId);
        ++calls["transfer"];
        if (to == from) return;
        expectedOwner[agentId] = to;
        expectedWallet[agentId] = address(0);
    }

    function setWallet(uint256 agentSeed, uint256 walletSeed) external {
        uint256 agentId = _agent(agentSeed);
        Vm.Wallet memory wallet = people[walletSeed % PEOPLE];
        uint256 deadline = block.timestamp + consents++ % 301;
        WalletConsent memory consent = WalletConsent(agentId, wallet.addr, expectedOwner[agentId], deadline);
        _set(consent, wallet);
        used.push(consent);
        expectedWallet[agentId] = wallet.addr;
        ++calls["set"];
    }

    function replay(uint256 seed) external {
        if (used.length != 0) replayAt(seed % used.length);
    }

    /// @dev Under another owner the digest is another, and the signature not for it.
    function replayAt(uint256 i) public {
        WalletConsent memory consent = used[i];
        Vm.Wallet memory wallet = _personOf(consent.newWallet);
        bool isSameOwner = consent.owner == expectedOwner[consent.agentId];
        bytes memory signature = _signature(consent, wallet);
        WalletConsent memory asked = consent;
        asked.owner = expectedOwner[consent.agentId];
        vm.expectRevert(
            isSameOwner
                ? abi.encodeWithSelector(IIdentity.WalletConsentUsed.selector, _digest(asked))
                : abi.encodeWithSelector(IIdentity.WalletConsentMissing.selector, asked.newWallet, _digest(asked))
        );
        vm.prank(asked.owner);
        IDENTITY.setAgentWallet(asked.agentId, asked.newWallet, asked.deadline, signature);
        ++calls[isSameOwner ? "replay" : "replay under another owner"];
    }

    function unset(uint256 agentSeed) external {
        uint256 agentId = _agent(agentSeed);
        vm.prank(expectedOwner[agentId]);
        IDENTITY.unsetAgentWallet(agentId);
        expectedWallet[agentId] = address(0);
        ++calls["unset"];
    }

    /// @dev Whoever is not the owner changes nothing, the wallet itself included.
    function unsetAsAnother(uint256 agentSeed, uint256 callerSeed) external {
        uint256 agentId = _agent(agentSeed);
        address caller = people[callerSeed % PEOPLE].addr;
        if (caller == expectedOwner[agentId]) caller = people[(callerSeed % PEOPLE + 1) % PEOPLE].addr;
        vm.expectRevert(abi.encodeWithSelector(IIdentity.NotAuthorized.selector, caller, agentId));
        vm.prank(caller);
        IDENTITY.unsetAgentWallet(agentId);
        ++calls["unset as another"];
    }

    function agentCount() external pure returns (uint256) {
        return AGENTS;
    }

    function usedCount() external view returns (uint256) {
        return used.length;
    }

    function _set(WalletConsent memory consent, Vm.Wallet memory wallet) private {
        bytes memory signature = _signature(consent, wallet);
        vm.prank(consent.owner);
        IDENTITY.setAgentWallet(consent.agentId, consent.newWallet, consent.deadline, signature);
    }

    function _signature(WalletConsent memory consent, Vm.Wallet memory wallet) private returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(wallet, _digest(consent));
        return abi.encodePacked(r, s, v);
    }

    function _digest(WalletConsent memory consent) private view returns (bytes32) {
        return consent.digest(block.chainid, address(IDENTITY));
    }

    function _personOf(address account) private view returns (Vm.Wallet memory person) {
        for (uint256 i = 0; i < PEOPLE; ++i) {
            if (people[i].addr == account) return people[i];
        }
    }

    function _agent(uint256 seed) private pure returns (uint256) {
        return 1 + seed % AGENTS;
    }
}
