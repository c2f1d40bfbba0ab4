/** Hosts that have an agent behind a command, which says which process started it, and so on which host it runs. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Client, connect } from '@atrium/client';
import { newCluster, say, type TestCluster, TOKEN } from './cluster.js';

const AGENT = fileURLToPath(new URL('../fixtures/work-agent.mjs', import.meta.url));
const LOOK_MS = 20;

/** Adds the agent `worker` to the configuration of all hosts of a cluster. */
export async function withAgent(cluster: TestCluster): Promise<TestCluster> {
  const config = path.join(cluster.folder, 'config');
  await mkdir(path.join(config, 'atrium'), { recursive: true });
  const worker = { type: 'acp', command: process.execPath, args: [AGENT, cluster.folder] };
  await writeFile(path.join(config, 'atrium', 'config.json'), JSON.stringify({ agents: { worker } }));
  return { ...cluster, env: { ...cluster.env, XDG_CONFIG_HOME: config } };
}

export async function clusterWithAgent(): Promise<TestCluster> {
  return withAgent(await newCluster());
}

export type WorkSession = Awaited<ReturnType<typeof newWorkSession>>;

/** Its folder holds nothing, because hosts look through it around every turn. */
export async function newWorkSession(client: Client, { folder }: TestCluster) {
  const empty = path.join(folder, 'empty');
  await mkdir(empty, { recursive: true });
  return client.open(
    await client.createSession({ provider: 'worker', workingDirectories: [pathToFileURL(empty).href] }),
  );
}

/** The programs that were ever started, each with the process that started it. */
export function programsIn({ folder }: TestCluster): { pid: number; host: number }[] {
  return linesOf(folder, 'programs').map((line) => {
    const [pid = 0, host = 0] = line.split(' ').map(Number);
    return { pid, host };
  });
}

function linesOf(folder: string, name: string): string[] {
  const file = path.join(folder, name);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

export interface WorkFigures {
  /** Turns of agents behind a command that ended well, and those that were cut off. */
  readonly noted: number;
  readonly cutOff: number;
  /** How many hosts had programs. */
  readonly places: number;
}

/** What may end a turn while hosts are killed. */
const CUT: ReadonlySet<string> = new Set(['host-lost', 'host-restarted', 'agent-failed']);

/**
 * Sessions whose agents run wherever hosts work. Each asks for a call in every turn, which leaves a line behind, so that one
 * that runs twice, or that nobody allowed, is seen.
 */
export class WorkingSessions {
  readonly #cluster: TestCluster;
  readonly #violations: string[];
  #client: Client | undefined;
  #sessions: WorkSession[] = [];
  #loops: Promise<void>[] = [];
  #isOver = false;
  #noted = 0;
  #cutOff = 0;

  constructor(cluster: TestCluster, violations: string[]) {
    this.#cluster = cluster;
    this.#violations = violations;
  }

  /** The URIs of the sessions. */
  get sessions(): readonly string[] {
    return this.#sessions.map(({ session }) => session.uri);
  }

  /** `port`: of what stands before the hosts. */
  async open(port: number, count: number): Promise<void> {
    this.#client = await connect({ url: `ws://127.0.0.1:${port}`, token: TOKEN });
    for (let made = 0; made < count; made++) this.#sessions.push(await newWorkSession(this.#client, this.#cluster));
  }

  begin(): void {
    this.#loops = this.#sessions.map((session, at) => this.#work(session, at));
  }

  async #work(session: WorkSession, at: number): Promise<void> {
    for (let round = 0; !this.#isOver; round++) await this.#turn(session, `${at}-${round}`);
  }

  async #turn(session: WorkSession, line: string): Promise<void> {
    const turn = await say(session, `note ${line}`);
    let isAllowed = false;
    while (!turn.isOver()) {
      const [call] = turn.calls();
      if (call?.status === 'pending-confirmation' && !isAllowed) {
        isAllowed = true;
        const allowed = {
          turnId: turn.turnId,
          toolCallId: call.toolCallId,
          approved: true,
          confirmed: 'user-action',
        } as const;
        // It may be rejected: the turn may have been cut off meanwhile.
        void session.chat.dispatch({ type: 'chat/toolCallConfirmed', ...allowed }).catch(() => {});
      }
      await delay(LOOK_MS);
    }
    const isNoted = linesOf(this.#cluster.folder, 'noted').includes(line);
    if (isNoted && !isAllowed) this.#violations.push(`the call "${line}" ran, and nobody had allowed it`);
    const errors = turn.errors();
    if (errors.length === 0 && turn.text() === 'Noted.') {
      this.#noted += 1;
      if (!isNoted) this.#violations.push(`the call "${line}" is shown as done, and never ran`);
    } else if (errors.length === 1 && CUT.has(errors[0] ?? '')) this.#cutOff += 1;
    else this.#violations.push(`the turn "${line}" ended with ${JSON.stringify([turn.text(), errors])}`);
  }

  /** Begins no more turns. */
  stop(): void {
    this.#isOver = true;
  }

  /** Lets the turns that run come to their end, and counts. */
  async finish(): Promise<WorkFigures> {
    this.stop();
    await Promise.all(this.#loops);
    const lines = linesOf(this.#cluster.folder, 'noted');
    for (const line of lines.filter((line, at) => lines.indexOf(line) !== at))
      this.#violations.push(`the call "${line}" ran twice`);
    const places = new Set(programsIn(this.#cluster).map(({ host }) => host)).size;
    return { noted: this.#noted, cutOff: this.#cutOff, places };
  }

  close(): void {
    this.stop();
    this.#client?.close();
  }
}
