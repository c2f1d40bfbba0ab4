/** Sessions whose folders declare providers, in a host of this process with a real port. The test speaks for them. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { ARRIVAL_MAX_MS } from '../../../../src/gateway/project/project-providers.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { openGateway, overSocket, sessionId, TRUSTING, until } from '../../../support/gateway-connections.js';
import { PuppetAgent, type PuppetTurn } from '../../../support/puppet-agent.js';
import { startHost, turnStarted } from '../../../support/session-fixture.js';
import { tempFolder } from '../../../support/temp-folder.js';
import type { RawClient, TestHost, TestHostOptions } from '../../../support/test-host.js';
import type { TestProvider } from '../../../support/test-provider.js';

const SHOW_TOKEN =
  'require("fs").writeFileSync(process.argv[1], process.env.TAP_PROVIDER_TOKEN); setInterval(() => {}, 1e6)';

/** Sections can be changed, so that providers can be asked about them. */
class SectionAgent extends PuppetAgent {
  override readonly abilities = {
    tools: 'live',
    toolIntent: 'all',
    render: 'sections',
    steer: true,
    cancelTool: true,
  } as const;
  override readonly sections = { tone: 'Be kind.' };
}

export interface ProjectHost {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly client: RawClient;
  readonly agent: PuppetAgent;
  readonly port: number;
  /** Where providers may leave files. */
  readonly providerFolder: string;
}

export async function openProjectHost(options: Pick<TestHostOptions, 'tools' | 'trust'> = {}): Promise<ProjectHost> {
  const clock = new FakeClock();
  const agent = new SectionAgent();
  const providerFolder = await tempFolder();
  let stopping: NodeJS.Timeout | undefined;
  onTestFinished(() => clearInterval(stopping));
  const host = await startHost({ clock, trust: TRUSTING, agents: [agent], providerFolder, ...options });
  // The code that ends real processes checks now and then whether they are gone, so time must pass. Runs before the host stops.
  onTestFinished(() => {
    stopping = setInterval(() => void clock.advance(50), 5);
  });
  const { port } = await openGateway(host);
  return { host, clock, client: await host.client('desk'), agent, port, providerFolder };
}

export interface ProjectSession {
  readonly uri: string;
  readonly id: string;
  /** Of each declared provider. */
  token(name: string): string;
  /** A turn, in the hands of the test. */
  turn(): Promise<PuppetTurn>;
}

export async function openProject(project: ProjectHost, ...names: string[]): Promise<ProjectSession> {
  return openProjectWith(project, {}, ...names);
}

/** `more`: stands in the entry of each of them. */
export async function openProjectWith(project: ProjectHost, more: object, ...names: string[]): Promise<ProjectSession> {
  const { client, agent } = project;
  const command = process.execPath;
  const declared = names.map((name) => [name, { command, args: ['-e', SHOW_TOKEN, `token-${name}`], ...more }]);
  const folder = await tempFolder({ 'atrium.json': JSON.stringify({ providers: Object.fromEntries(declared) }) });
  const uri = await client.session(undefined, { provider: 'puppet', workingDirectory: pathToFileURL(folder).href });
  const file = (name: string) => path.join(folder, `token-${name}`);
  const read = (name: string) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '');
  await until(() => (names.every((name) => read(name) !== '') ? true : undefined));
  // None of them binds by itself, and turns should not wait for that.
  await project.clock.advance(ARRIVAL_MAX_MS);
  return {
    uri,
    id: sessionId(uri),
    token: read,
    turn: () => {
      client.dispatch(uri, turnStarted(`t-${crypto.randomUUID()}`));
      return agent.turn(agent.turns.length);
    },
  };
}

/** A provider over a real socket that was let in, and has yet to say hello. */
export async function letIn({ port }: ProjectHost, token: string): Promise<TestProvider> {
  const provider = await overSocket(port);
  provider.send({ type: 'auth', token });
  await provider.next('sessions');
  return provider;
}
