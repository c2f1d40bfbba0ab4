/** Where hostile runs happen: a host in a process of its own, two sessions, and a token for everybody who needs one. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { programFile } from '../../../../../../test/support/programs.js';
import { until } from '../../../support/gateway-connections.js';
import type { RawClient } from '../../../support/test-host.js';
import { TalkingProcess } from './processes.js';
import { clientOver } from './socket-client.js';

const ATTACKER = fileURLToPath(new URL('./attacker.mjs', import.meta.url));
/** What a project declares: it is real, but only shows its token; the attackers speak for it. */
export const SHOW_TOKEN =
  'require("fs").writeFileSync("token", process.env.TAP_PROVIDER_TOKEN); setInterval(() => {}, 1e6)';

export interface Place {
  readonly uri: string;
  /** Lets a project provider into this session. */
  readonly token: string;
  readonly folder: string;
}

export interface Figures {
  readonly providers: number;
  readonly rss: number;
}

export interface AttackCounts {
  readonly sent: number;
  readonly received: number;
  readonly opened: number;
  readonly closed: number;
  readonly refused: number;
}

/** Where a host was before. */
export type Before = Pick<Rig, 'dataDir' | 'gatewayPort'>;

type Closer = () => void | Promise<void>;

export class Rig {
  readonly #host: TalkingProcess;
  readonly #closers: Closer[];
  readonly dataDir: string;
  readonly port: number;
  readonly gatewayPort: number;
  readonly client: RawClient;

  private constructor(facts: Before & Pick<Rig, 'port' | 'client'>, host: TalkingProcess, closers: Closer[]) {
    this.dataDir = facts.dataDir;
    this.port = facts.port;
    this.gatewayPort = facts.gatewayPort;
    this.client = facts.client;
    this.#host = host;
    this.#closers = closers;
  }

  /** A host of its own, or one that takes the place of another that is dead. */
  static async open(before?: Before): Promise<Rig> {
    const dataDir = before?.dataDir ?? mkdtempSync(path.join(tmpdir(), 'atrium-hostile-'));
    const host = new TalkingProcess(programFile('hostile-host'), [dataDir, String(before?.gatewayPort ?? 0)]);
    const { port, gatewayPort } = await host.next<{ port: number; gatewayPort: number }>();
    const { client, close } = await clientOver(port, 'desk');
    const remove = () => rmSync(dataDir, { recursive: true, force: true });
    return new Rig({ dataDir, port, gatewayPort, client }, host, [close, () => host.end(), remove]);
  }

  /** A session whose folder declares one provider, which does what the script says and leaves its token in a file. */
  async place(script = SHOW_TOKEN): Promise<Place> {
    const folder = mkdtempSync(path.join(tmpdir(), 'atrium-hostile-'));
    this.#closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const providers = { any: { command: process.execPath, args: ['-e', script] } };
    writeFileSync(path.join(folder, 'atrium.json'), JSON.stringify({ providers }));
    const uri = await this.client.session(undefined, { workingDirectory: pathToFileURL(folder).href });
    const file = path.join(folder, 'token');
    const token = await until(() => (existsSync(file) ? readFileSync(file, 'utf8') || undefined : undefined));
    return { uri, token, folder };
  }

  /** The host dies without a word. */
  kill(): Promise<void> {
    return this.#host.kill();
  }

  /** Begins an attack, and says what it did when it is over. */
  async attack(attack: string, { token }: Place, forMs: number): Promise<{ readonly over: Promise<AttackCounts> }> {
    const attacker = new TalkingProcess(ATTACKER, [JSON.stringify({ attack, port: this.gatewayPort, token, forMs })]);
    this.#closers.unshift(() => attacker.kill());
    await attacker.next();
    return { over: attacker.next<AttackCounts>().finally(() => attacker.kill()) };
  }

  figures(): Promise<Figures> {
    return this.#host.ask();
  }

  get complaints(): string {
    return this.#host.complaints;
  }

  async close(): Promise<void> {
    for (const close of this.#closers) await close();
  }
}
