/** The work of `atrium cluster` and `atrium doctor --cluster`. */
import path from 'node:path';
import { openSqliteLog } from '@atrium/host';
import {
  addVolume,
  askToDrain,
  type ClusterStatus,
  checkedMeta,
  clusterStatus,
  Engine,
  type HostStatus,
  importContents,
  importLog,
  initCluster,
} from '@atrium/host/cluster';
import { UsageError } from '../exit.js';
import { io, print, printJson } from '../io.js';
import { engineFrom } from '../serve/cluster-settings.js';
import { printable } from '../text/printable.js';

async function onEngine<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = new Engine(engineFrom(io().env), 'command');
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

const DONE = {
  made: 'The tables are made. Next: atrium serve --cluster on each host.',
  upgraded: 'The tables are of this release now.',
  present: 'The tables are there already.',
} as const;

export async function init(): Promise<void> {
  await onEngine(async (engine) => print(DONE[await initCluster(engine)]));
}

export async function drain(host: string): Promise<void> {
  await onEngine(async (engine) => {
    await checkedMeta(engine);
    if (!(await askToDrain(engine, host)))
      throw new UsageError(`No host ${host} lives. To see them: atrium cluster status`);
  });
  print(`${host} leaves when its turns have ended.`);
}

export async function volume(folder: string): Promise<void> {
  await onEngine(async (engine) => {
    await checkedMeta(engine);
    const { path: place } = await addVolume(engine, path.resolve(io().cwd, folder));
    print(`${place} is a folder that all hosts share: a host that does not see it there does not start.`);
  });
}

export async function importHistory(folder: string, { sharedDir }: { readonly sharedDir?: string }): Promise<void> {
  const dataDir = path.resolve(io().cwd, folder);
  await onEngine(async (engine) => {
    await checkedMeta(engine);
    const log = await openSqliteLog({ dataDir });
    try {
      const { sessions, turns, entries } = await importLog(engine, log);
      if (sharedDir !== undefined) await importContents(dataDir, path.resolve(io().cwd, sharedDir));
      print(`Imported ${sessions} sessions: ${turns} turns and ${entries} newer actions.`);
    } finally {
      await log.close();
    }
  });
  if (sharedDir === undefined)
    print(
      `Large contents and changes stay in ${dataDir}: with --shared-dir they are copied to where all hosts see them.`,
    );
}

export async function restored(): Promise<void> {
  await onEngine(async (engine) => {
    await checkedMeta(engine);
    await engine.run('SELECT skip_numbers(0)');
  });
  print('Numbers go on far above those of the backup: clients that come back get everything anew.');
}

export async function status({ json }: { readonly json?: boolean }): Promise<void> {
  const found = await onEngine(async (engine) => {
    await checkedMeta(engine);
    return clusterStatus(engine);
  });
  if (json) return printJson(found);
  for (const line of statusLines(found)) print(printable(line));
}

function statusLines({ hosts, head, engine, volumes }: ClusterStatus): string[] {
  const rows = [['HOST', 'TERM', 'STATE', 'CLIENTS', 'TURNS', 'PROGRAMS', 'VERSION', 'LINK'], ...hosts.map(hostRow)];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const table = rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const replicas = engine.synchronous > 0 ? `${engine.synchronous} synchronous` : 'none synchronous';
  return [
    ...(hosts.length === 0 ? ['No host has joined yet: atrium serve --cluster'] : table),
    '',
    `Engine    PostgreSQL ${engine.version}, ${engine.roundTripMs.toFixed(1)} ms away, ${(engine.bytes / 2 ** 20).toFixed(1)} MiB`,
    `Replicas  ${engine.replicas} (${replicas})`,
    `Actions   ${head}`,
    ...volumes.map(({ path: place }) => `Volume    ${place}`),
  ];
}

function hostRow({ id, term, alive, active, wanted, facts, version, link }: HostStatus): string[] {
  const fact = (name: string) => (alive && typeof facts[name] === 'number' ? String(facts[name]) : '-');
  const state = alive ? (active ? 'active' : 'stand-by') : 'gone';
  return [
    id,
    String(term),
    alive && wanted ? `${state}, ${wanted}` : state,
    fact('clients'),
    fact('working'),
    active ? '-' : fact('programs'),
    version,
    link ?? '-',
  ];
}
