/** A host on stored sessions, or what its work is held against, in a process of its own that says what it has used. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { load, loadHost } from '../measure.mjs';
import { answer } from './helper.mjs';

/** Turns that the least program reads at once: about 256 KiB. */
const FLOOR_TURNS = 350;

answer({ host, floor, stringify, cpu, settle });

function cpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** What the start left behind is collected now, and not while the next work is measured. */
function settle() {
  globalThis.gc();
}

async function host({ dataDir }) {
  const { createHost, openSqliteLog, scriptedAgent, startServer } = await loadHost();
  const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts: {}, default: [{ text: 'ok' }] });
  const running = await createHost({ log: await openSqliteLog({ dataDir }), agents: [agent] });
  const onConnection = (transport) => running.connect(transport);
  const { port } = await startServer({ host: '127.0.0.1', policy: {}, onConnection });
  return { port };
}

/**
 * The least that can send the turns of a channel from an index on: SQLite joins the texts, and the bytes go to a socket. It checks nothing, measures
 * nothing, frames nothing, and does not know what a session is.
 */
async function floor({ dataDir, channel, from, turns }) {
  const { loadDriver } = await load('host/dist/log-sqlite/driver.js');
  const db = (await loadDriver()).open(join(dataDir, 'atrium.db'));
  const page = db.prepare(`SELECT CAST(group_concat(json, ',') AS BLOB) AS bytes
    FROM (SELECT json FROM turns WHERE channel = ? AND idx >= ? AND idx < ? ORDER BY idx)`);
  const server = createServer((socket) => {
    socket.setNoDelay().once('data', async () => {
      for (let start = from; start < turns; start += FLOOR_TURNS) {
        if (!socket.write(page.bytes(channel, start, start + FLOOR_TURNS))) await once(socket, 'drain');
      }
      socket.end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: server.address().port };
}

/** For the first time in this process, as a host that has just been started would. */
function stringify({ file }) {
  const state = JSON.parse(readFileSync(file, 'utf8'));
  const before = cpu();
  const { length } = JSON.stringify(state);
  return { cpu: cpu() - before, length };
}
