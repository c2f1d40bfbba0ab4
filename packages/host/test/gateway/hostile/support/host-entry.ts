/**
 * A real host with both of its ports, in a process of its own. Usage: host <data folder> [port for providers]. It says
 * where it serves, and answers every line on standard input with what it holds in memory. It ends with its parent.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Logger } from '@atrium/core/util/logger.js';
import { scriptedAgent } from '../../../../../agents/src/scripted/backend.js';
import { startGatewayServer } from '../../../../src/gateway/gateway-server.js';
import { createHost } from '../../../../src/host.js';
import { openSqliteLog } from '../../../../src/log-sqlite/sqlite-log.js';
import { startServer } from '../../../../src/server/server.js';
import { HOSTILE_SCRIPT } from './script.js';

const [dataDir = '', gatewayPort = '0'] = process.argv.slice(2);
const providerFolder = path.join(dataDir, 'files');
mkdirSync(providerFolder, { recursive: true });
const logger: Logger = {
  log(level, message, fields) {
    if (level === 'error') console.error(message, JSON.stringify(fields ?? {}));
  },
};

const host = await createHost({
  log: await openSqliteLog({ dataDir, logger }),
  agents: [scriptedAgent(HOSTILE_SCRIPT)],
  trust: { isTrusted: async () => true, allows: async () => true, trust: async () => {} },
  providerFolder,
  logger,
});
const server = await startServer({
  host: '127.0.0.1',
  policy: {},
  onConnection: (transport) => host.connect(transport),
});
const gateway = await startGatewayServer({
  host: '127.0.0.1',
  port: Number(gatewayPort),
  onConnection: (transport) => host.connectProvider(transport, 'network'),
});
host.gatewayAt({ url: `ws://127.0.0.1:${gateway.port}`, port: gateway.port });
say({ port: server.port, gatewayPort: gateway.port });

const lines = createInterface({ input: process.stdin });
lines.on('line', () => say({ providers: host.activity.providers, rss: process.memoryUsage().rss }));
lines.on('close', () => process.exit());

function say(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
