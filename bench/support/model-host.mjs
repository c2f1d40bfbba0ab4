/** A host with a database, a port and an agent around a model, in a process of its own that says what it has used. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadHost } from '../measure.mjs';
import { answer } from './helper.mjs';

const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
let host;

answer({
  async open({ url: baseURL }) {
    const { createHost, modelAgent, openSqliteLog, startServer } = await loadHost();
    const models = [{ id: 'm-1', name: 'M 1' }];
    const agent = modelAgent({ provider: 'model', displayName: 'Model', kind: 'openai-compatible', baseURL, models });
    host = await createHost({ log: await openSqliteLog({ dataDir }), agents: [agent] });
    const onConnection = (transport) => host.connect(transport);
    const { port } = await startServer({ host: '127.0.0.1', policy: {}, onConnection });
    return { port };
  },
  cpu() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  async close() {
    await host.stop();
    rmSync(dataDir, { recursive: true, force: true });
  },
});
