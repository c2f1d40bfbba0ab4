/** Checks of the host: whether one runs and answers, what dead ones left behind, and whether its log can be read. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { connect } from '@atrium/client';
import type { DamageReport } from '@atrium/host';
import { INSTANCES_FOLDER, isProcessAlive } from '@atrium/host/instances';
import type { RunningHost } from '../service/running-host.js';
import { type Finding, fine, problem, warning } from './finding.js';

const OTHERS = 0o077;
/** Damage that was mended is mentioned this long. */
const DAMAGE_TOLD_MS = 30 * 24 * 60 * 60 * 1_000;

/** Has to look before anybody else does: looking for a running host clears these away. */
export async function checkStale(dataDir: string): Promise<Finding> {
  const folder = path.join(dataDir, INSTANCES_FOLDER);
  const names = await readdir(folder).catch(() => []);
  const dead = names.map((name) => Number.parseInt(name, 10)).filter((pid) => pid > 0 && !isProcessAlive(pid));
  if (dead.length === 0) return fine('instances', 'no note of a dead host is left');
  const text = `a host ended without saying so (process ${dead.join(', ')})`;
  return warning('instances', text, 'Nothing: the note was removed, and the next host ends what was cut off');
}

export async function checkHost(found: RunningHost | undefined): Promise<Finding> {
  if (!found) return fine('host', 'none is running; commands start one when they need it');
  const { url, pid } = found.instance;
  if (found.tokenProblem !== undefined) return fine('host', `${url} is there (process ${pid})`);
  try {
    const client = await connect({ url, ...(found.token !== undefined && { token: found.token }), log: () => {} });
    const { protocolVersion } = client.host;
    client.close();
    return fine('host', `${url} answers (process ${pid}, protocol ${protocolVersion})`);
  } catch (error) {
    const text = `${url} does not let us in: ${error instanceof Error ? error.message : String(error)}`;
    return problem('host', text, 'Run: atrium service stop, then atrium service start');
  }
}

export async function checkToken(found: RunningHost | undefined): Promise<Finding> {
  if (!found) return fine('token', 'a host makes one when it starts, and keeps it');
  if (found.tokenProblem !== undefined)
    return problem(
      'token',
      `${found.instance.tokenFile} cannot be read`,
      'Run: atrium service stop, then atrium service start',
    );
  const { tokenFile } = found.instance;
  if (tokenFile === undefined)
    return warning(
      'token',
      'the host lets everybody on this machine in',
      'Start it without --without-connection-token',
    );
  const { mode } = await stat(tokenFile);
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
    return problem('token', `${tokenFile} can be read by other users`, `Run: chmod 600 ${tokenFile}`);
  return fine('token', tokenFile);
}

/** Opening a log is what the next host does first; what it mends then, it mends now. */
export async function checkLog(dataDir: string, found: RunningHost | undefined): Promise<Finding[]> {
  if (found) return logFindings('in use by the host, which checked it when it started', await reportsOf(found));
  const isThere = await stat(path.join(dataDir, 'atrium.db')).then(
    () => true,
    () => false,
  );
  if (!isThere) return [fine('log', 'nothing is stored yet')];
  const { openSqliteLog, storedReports } = await import('@atrium/host');
  try {
    const log = await openSqliteLog({ dataDir });
    const { repairs, head } = log;
    const earlier = await storedReports(log);
    await log.close();
    const now = repairs.map((repair) => ({ ...repair, time: Date.now() }));
    return logFindings(`whole; ${head} actions so far`, [...earlier, ...now]);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return [problem('log', text, 'Name another data folder with --data-dir, and keep this one for an expert')];
  }
}

function logFindings(whole: string, reports: readonly DamageReport[]): Finding[] {
  const recent = reports.filter(({ time }) => time > Date.now() - DAMAGE_TOLD_MS);
  if (recent.length === 0) return [fine('log', whole)];
  return recent.map(({ time, message, keptAt }) => {
    const day = new Date(time).toISOString().slice(0, 10);
    return warning('log', `damage was found and mended on ${day}: ${message}`, keptText(keptAt));
  });
}

/** A host that runs has the log; it tells every client what it found there. */
async function reportsOf({ instance, token, tokenProblem }: RunningHost): Promise<readonly DamageReport[]> {
  if (tokenProblem !== undefined) return [];
  const { DAMAGE_MEMBER } = await import('@atrium/host');
  try {
    const client = await connect({ url: instance.url, ...(token !== undefined && { token }), log: () => {} });
    const told: Readonly<Record<string, unknown>> = client.host;
    client.close();
    return (told[DAMAGE_MEMBER] ?? []) as readonly DamageReport[];
  } catch {
    // Whether it lets us in is another finding.
    return [];
  }
}

function keptText(keptAt: string | undefined): string {
  return keptAt === undefined ? 'Nothing: go on' : `Nothing: what could not be read is kept in ${keptAt}`;
}
