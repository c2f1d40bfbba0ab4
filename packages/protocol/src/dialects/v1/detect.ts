/** How to tell a version-1 client by its first message. */
import type { Params } from '../dialect.js';

/** Version 1 offers one number; later versions offer a list of strings. */
export function isV1Initialize({ protocolVersion, protocolVersions }: Params): boolean {
  return typeof protocolVersion === 'number' && protocolVersions === undefined;
}

/** A reconnect names no version, so the host must remember which clients spoke version 1. */
export function isV1Reconnect({ channel, clientId }: Params, spokeV1: (clientId: string) => boolean): boolean {
  return channel === undefined && typeof clientId === 'string' && spokeV1(clientId);
}
