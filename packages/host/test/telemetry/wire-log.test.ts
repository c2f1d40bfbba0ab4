/** The wire log: every message of a connection, with its size and direction, without its secrets. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { describe, expect, it } from 'vitest';
import { createHost } from '../../src/host.js';
import { redacted, WIRE_FILES_MAX, WireFiles } from '../../src/telemetry/wire-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { LARGE, PartClient, storeLargeSession } from '../support/large-session.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { tempFolder } from '../support/temp-folder.js';
import { RawClient, ROOT } from '../support/test-host.js';

describe('the wire log', () => {
  it('has a line for every message, in both directions, with its size', async () => {
    const folder = path.join(await tempFolder(), 'wire');
    const host = await createHost({ log: new MemoryLog(), agents: [new PuppetAgent()], wireLog: folder });
    const client = new RawClient();
    host.connect(client.transport);
    await client.initialize('desk');
    await client.ask('authenticate', { channel: ROOT, resource: 'https://x.example', token: 'very-secret' });
    client.sendText('{broken');
    await client.until(({ id }) => id === null);
    await host.stop();
    client.disconnect();
    await expect.poll(() => readdirSync(folder)).toHaveLength(1);
    const [name = ''] = readdirSync(folder);
    const file = path.join(folder, name);
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('"event":"closed"');
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ event: 'opened', name: 'test' });
    const sent = lines.filter(({ direction }) => direction === 'in');
    expect(sent[0]).toMatchObject({ bytes: expect.any(Number), message: { method: 'initialize' } });
    expect(sent[1].message.params.token).toBe('[hidden]');
    expect(sent[2]).toMatchObject({ unreadable: true, bytes: 7 });
    expect(lines.filter(({ direction }) => direction === 'out')).toHaveLength(client.received.length);
    expect(readFileSync(file, 'utf8')).not.toContain('very-secret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('has the size of an answer that is sent in parts, and not what is in it', async () => {
    const folder = path.join(await tempFolder(), 'wire');
    const log = new MemoryLog();
    await storeLargeSession(log, { turns: 60, turnBytes: 10_000 });
    const host = await createHost({ log, agents: [new PuppetAgent()], wireLog: folder });
    const client = new PartClient();
    host.connect(client.transport);
    await client.initialize('desk');
    await client.request('subscribe', { channel: LARGE });
    await host.stop();
    client.disconnect();
    const text = () =>
      readdirSync(folder)
        .map((name) => readFileSync(path.join(folder, name), 'utf8'))
        .join('');
    await expect.poll(text).toContain('"event":"closed"');
    expect(client.parts.length).toBeGreaterThan(1);
    const bytes = client.parts.reduce((sum, part) => sum + Buffer.byteLength(part.text), 0);
    const line = text()
      .split('\n')
      .find((entry) => entry.includes('inParts'));
    expect(JSON.parse(line ?? '')).toMatchObject({ direction: 'out', bytes, inParts: true, id: 2 });
    expect(text()).not.toContain('reads \\"one\\" token');
  });

  it('is not written unless it was asked for', async () => {
    const folder = await tempFolder();
    const host = await createHost({ log: new MemoryLog(), agents: [new PuppetAgent()], dataFolder: folder });
    const client = new RawClient();
    host.connect(client.transport);
    await client.initialize('desk');
    await host.stop();
    expect(readdirSync(folder)).toEqual(['host-key']);
  });

  it('keeps the newest files, also of earlier hosts, and what else is in the folder', async () => {
    const folder = await tempFolder({ 'notes.jsonl': '' });
    const clock = new FakeClock();
    const make = (files: WireFiles) => {
      const file = files.next();
      writeFileSync(file, '');
      return file;
    };
    const fill = async (files: WireFiles, count: number) => {
      for (let made = 0; made < count; made += 1) {
        files.over(make(files));
        await clock.advance(1_000);
      }
    };
    const first = new WireFiles(folder, clock);
    await fill(first, 3);
    const old = readdirSync(folder).filter((name) => name !== 'notes.jsonl');
    const left = () => readdirSync(folder);
    const second = new WireFiles(folder, clock);
    const open = make(second);
    await fill(second, WIRE_FILES_MAX - 2);
    await expect.poll(() => left().length, { timeout: 10_000 }).toBe(WIRE_FILES_MAX + 2);
    expect(left()).toEqual(expect.arrayContaining(['notes.jsonl', ...old.slice(1), path.basename(open)]));
    expect(left()).not.toContain(old[0]);
    // Of a connection that goes on, however many others come and go.
    await fill(second, WIRE_FILES_MAX);
    await expect.poll(() => left().length).toBe(WIRE_FILES_MAX + 2);
    expect(left()).toContain(path.basename(open));
  });
});

describe('redaction', () => {
  it.each([
    [{ token: 'abc' }, { token: '[hidden]' }],
    [{ headers: { Authorization: 'Bearer x' } }, { headers: { Authorization: '[hidden]' } }],
    [
      { apiKey: 'k', inputTokens: 5 },
      { apiKey: '[hidden]', inputTokens: 5 },
    ],
    [{ request: { id: 'pair-1', message: 'Type 123 456' } }, { request: { id: 'pair-1', message: '[hidden]' } }],
    [{ codes: [{ session: 's', code: '123 456' }] }, { codes: [{ session: 's', code: '[hidden]' }] }],
    [{ error: { code: -32601 } }, { error: { code: -32601 } }],
    [{ env: { GITHUB_TOKEN: 'x', OPENAI_KEY: 'y' } }, { env: { GITHUB_TOKEN: '[hidden]', OPENAI_KEY: '[hidden]' } }],
    [
      { credentials: { user: 'u', value: 'v' }, cookies: ['c'], outputTokens: 3 },
      { credentials: '[hidden]', cookies: '[hidden]', outputTokens: 3 },
    ],
    [
      { answers: { password: { state: 'submitted', value: { kind: 'text', value: 'hunter2' } } } },
      { answers: { password: '[hidden]' } },
    ],
    [
      { action: { type: 'terminal/input', data: 'hunter2\r' } },
      { action: { type: 'terminal/input', data: '[hidden]' } },
    ],
    [
      { content: [{ type: 'unclassified', value: 'hunter2' }], title: 'bash' },
      { content: [{ type: 'unclassified', value: '[hidden]' }], title: 'bash' },
    ],
    [
      { commandId: 'c', commandLine: 'login hunter2', output: 'hunter2', isComplete: true },
      { commandId: 'c', commandLine: '[hidden]', output: '[hidden]', isComplete: true },
    ],
    [{ result: { data: 'A=hunter2', encoding: 'utf-8' } }, { result: { data: '[hidden]', encoding: 'utf-8' } }],
    [
      { answers: { name: { state: 'draft', value: { kind: 'text', value: 'hunter2' } } } },
      { answers: { name: { state: 'draft', value: { kind: 'text', value: '[hidden]' } } } },
    ],
    [
      { value: { kind: 'selected', value: 'other', freeformValues: ['hunter2'] } },
      { value: { kind: 'selected', value: 'other', freeformValues: '[hidden]' } },
    ],
    [
      ['https://host/mcp?access_token=t&page=2#api-key=k'],
      ['https://host/mcp?access_token=[hidden]&page=2#api-key=[hidden]'],
    ],
    [{ env: { DB_PASS: 'x', PASSWD: 'y' } }, { env: { DB_PASS: '[hidden]', PASSWD: '[hidden]' } }],
    [[`https://me:${'p'.repeat(200)}@host/`], ['https://[hidden]@host/… (217 characters)']],
    [
      { text: 'ghp_0123456789abcdef0123 or Bearer abc.def at https://me:pw@host/?token=t&x=1' },
      { text: '[hidden] or [hidden] at https://[hidden]@host/?token=[hidden]&x=1' },
    ],
    [['x'.repeat(200)], [`${'x'.repeat(80)}… (200 characters)`]],
  ])('turns %j into %j', (given, expected) => expect(redacted(given)).toEqual(expected));

  it('ends, however deep or wide a message is', () => {
    let deep: unknown = 'end';
    for (let level = 0; level < 1_000; level++) deep = { deep };
    expect(JSON.stringify(redacted(deep)).length).toBeLessThan(500);
    expect((redacted(new Array(10_000).fill(1)) as unknown[]).length).toBe(51);
  });
});
