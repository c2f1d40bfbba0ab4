/** A host with automations, an agent in the hands of the test, and a client of AHP 1.0 that watches the catalogue. */
import type { Log } from '@atrium/core/log/log.js';
import {
  AUTOMATIONS_CHANNEL,
  type AutomationDefinition,
  type AutomationEntry,
  type AutomationRunState,
  type AutomationState,
  type AutomationTrigger,
  type ChatState,
  defaultChatUri,
  type SessionState,
} from '@atrium/protocol/ahp-1';
import { onTestFinished } from 'vitest';
import { FakeClock } from './fake-clock.js';
import { KeptLog } from './logs.js';
import { nativeClient } from './native-client.js';
import { PuppetAgent } from './puppet-agent.js';
import { type RawClient, settle, startTestHost, type TestHost, type TestHostOptions } from './test-host.js';

export { AUTOMATIONS_CHANNEL };

export const AUTOMATION = 'ahp-automation:/nightly';
const PATIENCE_MS = 20_000;

export function definition(changes: Partial<AutomationDefinition> = {}): AutomationDefinition {
  return {
    title: 'Nightly',
    message: { text: 'look at the build', origin: { kind: 'automation' } },
    session: { provider: 'puppet' },
    enabled: true,
    triggers: [],
    ...changes,
  };
}

export function scheduled(
  expression: string,
  timeZone = 'UTC',
  misfirePolicy?: 'skip' | 'runOnce',
): Extract<AutomationTrigger, { kind: 'schedule' }> {
  return { kind: 'schedule', id: 's', schedule: { expression, timeZone }, ...(misfirePolicy && { misfirePolicy }) };
}

export interface AutomationFixtureOptions extends TestHostOptions {
  readonly clock?: FakeClock;
}

export class AutomationFixture {
  constructor(
    readonly host: TestHost,
    readonly client: RawClient,
    readonly agent: PuppetAgent,
    readonly clock: FakeClock,
    readonly log: Log,
  ) {}

  static async open(options: AutomationFixtureOptions = {}): Promise<AutomationFixture> {
    const { clock = new FakeClock(), log = new KeptLog() } = options;
    const agent = new PuppetAgent('puppet', { models: [{ id: 'large', provider: 'puppet', name: 'Large' }] });
    const host = await startTestHost({ ...options, clock, log, agents: [agent, ...(options.agents ?? [])] });
    onTestFinished(() => host.stop().catch(() => {}));
    const client = await nativeClient(host, `desk-${crypto.randomUUID()}`);
    await client.request('subscribe', { channel: AUTOMATIONS_CHANNEL });
    return new AutomationFixture(host, client, agent, clock, log);
  }

  /** A host on what this one left in the log; this one is just dropped, as by a crash. */
  async crash(options: AutomationFixtureOptions = {}): Promise<AutomationFixture> {
    await settle();
    return AutomationFixture.open({ clock: this.clock, log: this.log, ...options });
  }

  /** Asks for an automation, and waits for it. */
  async create(changes: Partial<AutomationDefinition> = {}, resource = AUTOMATION): Promise<AutomationEntry> {
    this.client.dispatch(AUTOMATIONS_CHANNEL, {
      type: 'automation/createRequested',
      resource,
      definition: definition(changes),
    } as never);
    await settle();
    return this.entry(resource);
  }

  async update(changes: Partial<AutomationDefinition>, resource = AUTOMATION): Promise<AutomationEntry> {
    const before = await this.entry(resource);
    const next = { ...before.definition, ...changes };
    this.client.dispatch(AUTOMATIONS_CHANNEL, {
      type: 'automation/updateRequested',
      resource,
      definition: next,
    } as never);
    await settle();
    return this.entry(resource);
  }

  /** Why the host rejects an action; undefined when it does not. */
  async refusal(action: object, channel = AUTOMATIONS_CHANNEL): Promise<string | undefined> {
    const clientSeq = this.client.dispatch(channel, action as never);
    const { params } = await this.client.until(
      ({ method, params }) =>
        method === 'action' && (params?.origin as { clientSeq?: number } | undefined)?.clientSeq === clientSeq,
    );
    return (params as { rejectionReason?: string }).rejectionReason;
  }

  async entries(): Promise<AutomationEntry[]> {
    return (await this.client.state<AutomationState>(AUTOMATIONS_CHANNEL)).entries;
  }

  async entry(resource = AUTOMATION): Promise<AutomationEntry> {
    const found = (await this.entries()).find((entry) => entry.resource === resource);
    if (!found) throw new Error(`there is no ${resource}`);
    return found;
  }

  /** The runs that the catalogue shows, newest first. */
  async runs(resource = AUTOMATION): Promise<AutomationRunState[]> {
    return (await this.entry(resource)).runs as AutomationRunState[];
  }

  async run(requestId: string = crypto.randomUUID(), automation = AUTOMATION): Promise<string> {
    const params = { channel: AUTOMATIONS_CHANNEL, automation, requestId };
    return (await this.client.request<{ resource: string }>('runAutomation', params)).resource;
  }

  state(run: string): Promise<AutomationRunState> {
    return this.client.state<AutomationRunState>(run);
  }

  /** The state of a run once it has got this far. Files and programs are real: on a busy machine they take their time. */
  async until(run: string, status: string): Promise<AutomationRunState> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const state = await this.state(run);
      if (state.lifecycle.status === status) return state;
      if (performance.now() > deadline) throw new Error(`it stays like this: ${JSON.stringify(state)}`);
      await settle();
    }
  }

  session(uri = ''): Promise<SessionState> {
    return this.client.state<SessionState>(uri);
  }

  chat(session = ''): Promise<ChatState> {
    return this.client.state<ChatState>(defaultChatUri(session));
  }
}
