/** What the gateway keeps in a session's metadata. Changing it replaces all metadata, so the rest is carried along. */
import type { SessionState } from '@atrium/protocol';
import { isRecord } from '../core/util/shape.js';

export interface GatewayMeta {
  /** Notes that were shown while no turn was running, oldest first. */
  readonly timeline?: readonly string[];
  /** Machine-readable facts about the providers. */
  readonly providers?: readonly object[];
  /** Providers that somebody switched off here, by name: they stay so, whenever they come. */
  readonly off?: readonly string[];
}

export function gatewayMeta({ _meta }: SessionState): GatewayMeta {
  const meta = _meta?.gateway;
  return isRecord(meta) ? (meta as GatewayMeta) : {};
}

export function withGatewayMeta(state: SessionState, changes: GatewayMeta): Record<string, unknown> {
  return { ...state._meta, gateway: { ...gatewayMeta(state), ...changes } };
}
