/** A host with one session in a real folder, another folder that is none of its business, and clients that ask for files. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Log } from '@atrium/core/log/log.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { onTestFinished } from 'vitest';
import { createHost } from '../../src/host.js';
import type { Host, HostOptions } from '../../src/host-options.js';
import { KeptLog } from './logs.js';
import { PuppetAgent } from './puppet-agent.js';
import { tempFolder } from './temp-folder.js';
import { type Message, RawClient, ROOT } from './test-host.js';

type Files = Readonly<Record<string, string>>;

export interface ResourceFixtureOptions {
  /** In the session's folder. */
  readonly files?: Files;
  /** In the other one. */
  readonly outside?: Files;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly host?: Partial<HostOptions>;
}

export class ResourceFixture {
  readonly uri = `ahp-session:/${crypto.randomUUID()}`;
  readonly agent = new PuppetAgent();
  client = new RawClient();

  constructor(
    readonly host: Host,
    readonly folder: string,
    readonly outside: string,
  ) {}

  /** Of something in the session's folder, or of an absolute path. */
  file(name: string): string {
    return pathToFileURL(path.resolve(this.folder, name)).href;
  }

  path(name: string): string {
    return path.resolve(this.folder, name);
  }

  async join(clientId: string): Promise<RawClient> {
    const client = new RawClient();
    this.host.connect(client.transport);
    await client.initialize(clientId);
    return client;
  }

  /** Sends a request about a resource and waits for its answer, whichever it is. */
  ask(method: string, params: object, client = this.client): Promise<Message> {
    return client.ask(method, { channel: ROOT, ...params });
  }

  /** The code of the error, or `ok`. */
  async code(method: string, params: object, client = this.client): Promise<number | 'ok'> {
    return (await this.ask(method, params, client)).error?.code ?? 'ok';
  }

  /** The result of a request that must succeed. */
  result<T = Record<string, unknown>>(method: string, params: object, client = this.client): Promise<T> {
    return client.request<T>(method, { channel: ROOT, ...params });
  }

  async text(name: string): Promise<string> {
    const { data, encoding } = await this.result<{ data: string; encoding: string }>('resourceRead', {
      uri: this.file(name),
    });
    return encoding === 'base64' ? Buffer.from(data, 'base64').toString() : data;
  }

  async names(name = '.'): Promise<string[]> {
    const { entries } = await this.result<{ entries: { name: string }[] }>('resourceList', { uri: this.file(name) });
    return entries.map((entry) => entry.name).sort();
  }
}

export async function openResourceFixture(options: ResourceFixtureOptions = {}): Promise<ResourceFixture> {
  const { files = {}, outside: foreign = {}, clock, log = new KeptLog() } = options;
  const folder = await realpath(await tempFolder(files));
  const outside = await realpath(await tempFolder(foreign));
  const agent = new PuppetAgent();
  const host = await createHost({
    ...{ log, agents: [agent], terminals: false },
    ...(clock && { clock }),
    ...options.host,
  });
  onTestFinished(() => host.stop());
  const fixture = Object.assign(new ResourceFixture(host, folder, outside), { agent });
  fixture.client = await fixture.join('desk');
  await fixture.client.session(fixture.uri, { workingDirectory: pathToFileURL(folder).href });
  return fixture;
}
