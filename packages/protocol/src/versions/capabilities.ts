/** What a peer of a given version can do, for code that must choose and must not compare version numbers. */
import type { SupportedVersion } from './versions.js';

export interface ProtocolCapabilities {
  readonly sessions: true;
  readonly tools: true;
  /** A person can be asked before a tool runs. */
  readonly confirmations: true;
  readonly reasoning: true;
  /** Channels and state beyond root and sessions: terminals, changesets, watches, telemetry. */
  readonly channels?: true;
  /** Queued and steering messages, input requests, customizations, client tools, configuration. */
  readonly collaboration?: true;
  /** The host may send requests to the client. */
  readonly serverCommands?: true;
  /** The host may ask the active client to rewrite prompt sections. */
  readonly systemMessageTransform?: true;
}

const CORE = { sessions: true, tools: true, confirmations: true, reasoning: true } as const;
const CHANNELS = { ...CORE, channels: true, collaboration: true, serverCommands: true } as const;

const CAPABILITIES: { readonly [Version in SupportedVersion | 1]: ProtocolCapabilities } = {
  1: CORE,
  '0.2.0': CHANNELS,
  '0.3.0': { ...CHANNELS, systemMessageTransform: true },
};

export function capabilities(version: SupportedVersion | 1): ProtocolCapabilities {
  return CAPABILITIES[version];
}
