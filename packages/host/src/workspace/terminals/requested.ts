/** The terminal that a client asks for: checked, and with what it left open filled in. */
import path from 'node:path';
import type { CreateTerminalParams } from '@atrium/protocol';
import type { HostCore } from '../../core/contracts/host-core.js';
import type { Connection } from '../../core/wire/connection.js';
import { checkClaim, checkedName, checkedSize, checkedUri } from './check-params.js';
import type { Opening } from './opening.js';
import { startFolder } from './places.js';
import type { Shells } from './shells/shells.js';

export async function openingFor(
  params: CreateTerminalParams,
  { identity }: Connection,
  core: HostCore,
  shells: Shells,
): Promise<Opening> {
  const { claim } = params;
  const uri = checkedUri(params.channel);
  const size = checkedSize(params);
  const name = checkedName(params);
  checkClaim(claim, identity?.clientId, (session) => core.sessions.has(session));
  const cwd = await startFolder(core, params);
  const launch = await shells.launch();
  const title = name ?? path.basename(launch.file);
  return { uri, claim, launch, cwd, size, title, isNamed: name !== undefined };
}
