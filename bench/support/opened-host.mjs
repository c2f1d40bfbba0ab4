/** A host on stored sessions, or what its work is held against, in a process of its own that says what it has used. */
import { readFileSync } from 'node:fs';
import { loadHost } from '../measure.mjs';
import { answer } from './helper.mjs';

answer({ host, stringify, cpu });

function cpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function host({ dataDir }) {
  const { createHost, openSqliteLog, scriptedAgent, startServer } = await loadHost();
  const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts: {}, default: [{ text: 'ok' }] });
  const running = await createHost({ log: await openSqliteLog({ dataDir }), agents: [agent] });
  const onConnection = (transport) => running.connect(transport);
  const { port } = await startServer({ host: '127.0.0.1', policy: {}, onConnection });
  return { port };
}

/** For the first time in this process, as a host that has just been started would. */
function stringify({ file }) {
  const state = JSON.parse(readFileSync(file, 'utf8'));
  const before = cpu();
  const { length } = JSON.stringify(state);
  return { cpu: cpu() - before, length };
}
