// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC721} from "@openzeppelin/contracts/interfaces/IERC721.sol";
import {IERC721Metadata} from "@openzeppelin/contracts/interfaces/IERC721Metadata.sol";

import {IIdentityRegistry} from "../interfaces/IIdentityRegistry.sol";

/// @notice Reads what a buyer checks before paying an agent, in one request and from one block, from any ERC-8004 identity
/// registry. It is never deployed: its creation code is sent with `eth_call`, which returns what the constructor returns.
contract AgentReader {
    /// @notice What a call returned, or reverted with.
    struct Answer {
        bool succeeded;
        bytes data;
    }

    /// @param registry The identity registry. An address without code answers every call with no data.
    /// @param agentId The agent's number in it.
    /// @dev Returns (uint256 number, uint256 time, Answer owner, Answer uri, Answer wallet, bool isWalletContract),
    /// ABI-encoded: the block and its Unix time, and what `ownerOf`, `tokenURI` and `getAgentWallet` answer, not decoded,
    /// since another's registry may answer anything.
    constructor(address registry, uint256 agentId) {
        Answer memory owner = _ask(registry, abi.encodeCall(IERC721.ownerOf, (agentId)));
        Answer memory uri = _ask(registry, abi.encodeCall(IERC721Metadata.tokenURI, (agentId)));
        Answer memory wallet = _ask(registry, abi.encodeCall(IIdentityRegistry.getAgentWallet, (agentId)));
        bytes memory answer = abi.encode(block.number, block.timestamp, owner, uri, wallet, _isContract(wallet));
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }

    function _ask(address registry, bytes memory call) private view returns (Answer memory answer) {
        (answer.succeeded, answer.data) = registry.staticcall(call);
    }

    /// @dev Whether an answer is the address of a contract: one word whose first twelve bytes are zero.
    function _isContract(Answer memory wallet) private view returns (bool) {
        if (!wallet.succeeded || wallet.data.length != 32) return false;
        uint256 word = abi.decode(wallet.data, (uint256));
        // forge-lint: disable-next-line(unsafe-typecast)
        return word <= type(uint160).max && address(uint160(word)).code.length != 0;
    }
}
