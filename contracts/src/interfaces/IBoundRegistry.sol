// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

/// @title What the registries over an identity registry have in common
interface IBoundRegistry {
    /// @notice Thrown when the identity registry given to the constructor is the zero address.
    error RegistryZero();

    /// @notice Thrown when the agent does not exist; raised by the identity registry and passed on.
    /// @param tokenId The agent: its token id.
    error ERC721NonexistentToken(uint256 tokenId);

    /// @notice Thrown when a counter would pass 2^64 - 1.
    error CounterExhausted();

    /// @notice The identity registry whose agents this registry is about.
    /// @return The address of the identity registry.
    function getIdentityRegistry() external view returns (address);

    /// @notice The version of this implementation.
    /// @return The version, as semantic versioning writes it.
    function getVersion() external pure returns (string memory);
}
