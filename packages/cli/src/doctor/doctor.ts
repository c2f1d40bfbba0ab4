/** All checks, in the order in which things depend on each other. A check that fails itself is a finding, too. */

import { DEFAULT_GATEWAY_PORT, DEFAULT_PORT } from '../commands/serve.js';
import { io } from '../io.js';
import { findHost } from '../service/running-host.js';
import { type Finding, fine, problem } from './finding.js';
import { checkHost, checkLog, checkStale, checkToken } from './host.js';
import { checkDisk, checkFolder, checkNode, checkPort } from './machine.js';
import { checkAgents, checkTrust } from './setup.js';

export async function examine(dataDir: string): Promise<Finding[]> {
  const stale = await settled('instances', checkStale(dataDir));
  const found = await findHost(dataDir).catch(() => undefined);
  const port = Number(io().env.ATRIUM_PORT ?? DEFAULT_PORT);
  const gatewayPort = Number(io().env.ATRIUM_GATEWAY_PORT ?? DEFAULT_GATEWAY_PORT);
  const ports = found
    ? [fine('port', `${found.instance.port}, in use by the host`)]
    : [
        ...(port === 0 ? [] : await settled('port', checkPort('port', port, '--port'))),
        ...(gatewayPort === 0 ? [] : await settled('gateway', checkPort('gateway', gatewayPort, '--gateway-port'))),
      ];
  return [
    checkNode(process.versions.node),
    ...(await settled('data', checkFolder(dataDir))),
    ...(await settled('disk', checkDisk(dataDir))),
    ...stale,
    ...(await settled('host', checkHost(found))),
    ...(await settled('token', checkToken(found))),
    ...ports,
    ...(await settled('log', checkLog(dataDir, found))),
    ...(await settled('agents', checkAgents(dataDir, found))),
    ...(await settled('trust', checkTrust(dataDir))),
  ];
}

async function settled(about: string, check: Promise<Finding | Finding[]>): Promise<Finding[]> {
  try {
    return [await check].flat();
  } catch (error) {
    return [problem(about, error instanceof Error ? error.message : String(error), 'Look at the message above')];
  }
}
