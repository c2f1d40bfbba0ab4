import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { InputOutcome } from '@atrium/core/contracts/agent.js';
import type { SessionInputRequest, SessionInputResponseKind } from '@atrium/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MCP_CALL_TIMEOUT_MS } from '../../src/plugins/mcp/limits.js';
import { call, inState, McpFixture, POLL, processConfig, textOf } from '../support/mcp-fixture.js';
import { openPuppetFixture, stateOf } from '../support/session-fixture.js';
import { temporaryFolder } from '../tools/tool-box.js';

const fixture = new McpFixture();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => fixture.close());
afterAll(() => remove());

type Answers = InputOutcome['answers'];
const submitted = (value: Answers[string] extends infer A ? (A extends { value: infer V } ? V : never) : never) =>
  ({ state: 'submitted', value }) as const;

/** Somebody who answers at once, and keeps what was asked. */
function person(answer: (request: SessionInputRequest) => InputOutcome) {
  const asked: SessionInputRequest[] = [];
  const ask = async (request: SessionInputRequest) => {
    asked.push(request);
    return answer(request);
  };
  const withdrawn: string[] = [];
  return { asked, withdrawn, people: { ask, withdraw: (id: string) => void withdrawn.push(id) } };
}

const filled: Answers = {
  name: submitted({ kind: 'text', value: 'Ada' }),
  age: submitted({ kind: 'number', value: 36 }),
  isMember: submitted({ kind: 'boolean', value: false }),
  colour: submitted({ kind: 'selected', value: 'g' }),
  sizes: submitted({ kind: 'selected-many', value: ['S', 'L'] }),
};

describe('a question of an MCP server', { timeout: 60_000 }, () => {
  it('is an input request with a question for each field, and the answers go back by their names', async () => {
    const { asked, people } = person(() => ({ response: 'accept', answers: filled }));
    const { server } = await fixture.ready(processConfig('good'), { people });
    const content = { name: 'Ada', age: 36, isMember: false, colour: 'g', sizes: ['S', 'L'] };
    expect(JSON.parse(textOf(await call(server, 'ask')))).toEqual({ action: 'accept', content });
    expect(asked).toMatchObject([
      {
        message: 'The MCP server test asks: Who are you?',
        questions: [
          {
            id: 'name',
            kind: 'text',
            title: 'Your name',
            message: 'As it stands on the door.',
            required: true,
            min: 1,
          },
          { id: 'age', kind: 'integer', message: 'age', min: 0, max: 150, required: false },
          { id: 'isMember', kind: 'boolean', defaultValue: true },
          {
            id: 'colour',
            kind: 'single-select',
            options: [
              { id: 'r', label: 'Red' },
              { id: 'g', label: 'Green' },
            ],
          },
          { id: 'sizes', kind: 'multi-select', options: [{ id: 'S' }, { id: 'M' }, { id: 'L' }], min: 1 },
        ],
      },
    ]);
  });

  it('can be declined and cancelled, and the server hears which', async () => {
    for (const response of ['decline', 'cancel'] satisfies SessionInputResponseKind[]) {
      const { people } = person(() => ({ response, answers: filled }));
      const { server } = await fixture.ready(processConfig('good'), { people });
      expect(JSON.parse(textOf(await call(server, 'ask')))).toEqual({ action: response });
    }
  });

  it('is put again when something required is missing, and never answered with another type', async () => {
    const wrong: Answers = { ...filled, age: submitted({ kind: 'text', value: 'old' }) };
    const { name, ...nameless } = wrong;
    const { asked, people } = person(({ message }) => ({
      response: 'accept',
      answers: message?.includes('as well: Your name')
        ? ({ ...nameless, name: name ?? wrong.name } as Answers)
        : nameless,
    }));
    const { server } = await fixture.ready(processConfig('good'), { people });
    const content = { name: 'Ada', isMember: false, colour: 'g', sizes: ['S', 'L'] };
    expect(JSON.parse(textOf(await call(server, 'ask')))).toEqual({ action: 'accept', content });
    expect(asked.length).toBe(2);
  });

  it('goes away when the server does not want to know any more', async () => {
    let end: (outcome: InputOutcome) => void = () => {};
    const asked: string[] = [];
    const people = {
      ask: (request: SessionInputRequest) => {
        asked.push(request.id);
        return new Promise<InputOutcome>((resolve) => {
          end = resolve;
        });
      },
      withdraw: (id: string) => {
        asked.push(`withdrawn ${id}`);
        end({ response: 'cancel', answers: {} });
      },
    };
    const { server } = await fixture.ready(processConfig('good'), { people });
    expect(textOf(await call(server, 'ask', { text: 'withdraw' }))).toContain('error');
    await expect.poll(() => asked.length, POLL).toBe(2);
    expect(asked[1]).toBe(`withdrawn ${asked[0]}`);
  });

  it('shows what cannot be seen, and its words stay behind the name of the server', async () => {
    const { asked, people } = person(() => ({ response: 'decline', answers: {} }));
    const { server } = await fixture.ready(processConfig('good'), { people });
    await call(server, 'ask', { text: ' \u202egnp.exe\u001b[2J' });
    expect(asked[0]?.message).toMatch(/^The MCP server test asks: Who are you\?/);
    for (const hidden of ['\u202e', '\u001b']) expect(asked[0]?.message).not.toContain(hidden);
  });

  it('about an address shows all of it, escaped, and opens nothing', async () => {
    const { asked, people } = person(() => ({ response: 'accept', answers: {} }));
    const { server } = await fixture.ready(processConfig('good'), { people });
    const url = 'https://exämple.test/sign-in?next=\u202eevil';
    expect(JSON.parse(textOf(await call(server, 'visit', { text: url })))).toEqual({ action: 'accept' });
    const href = 'https://xn--exmple-cua.test/sign-in?next=%E2%80%AEevil';
    expect(asked).toMatchObject([{ url: href, message: expect.stringContaining(href) }]);
    for (const bad of ['javascript:alert(1)', 'file:///etc/passwd'])
      expect(textOf(await call(server, 'visit', { text: bad }))).toContain('must be an absolute http or https URL');
    expect(textOf(await call(server, 'visit', { text: 'nowhere' }))).toContain('error');
    expect(asked.length).toBe(1);
  });

  it('is cancelled where there is nobody to ask', async () => {
    const { server } = await fixture.ready(processConfig('good'));
    expect(JSON.parse(textOf(await call(server, 'ask')))).toEqual({ action: 'cancel' });
  });

  it('may come while no call runs', async () => {
    const file = path.join(folder, 'curious');
    const { asked, people } = person(() => ({
      response: 'accept',
      answers: { region: submitted({ kind: 'selected', value: 'eu' }) },
    }));
    await fixture.ready(processConfig('curious', file), { people });
    await expect.poll(() => asked.length, POLL).toBe(1);
    await expect.poll(() => readFileSync(file, 'utf8'), POLL).toBe('{"action":"accept","content":{"region":"eu"}}');
  });

  it('in a session is answered by a client, and takes nothing of the time of the call', async () => {
    const { server } = await fixture.ready(processConfig('good'), {
      ...{ id: 'mcp:1', name: 'notes', isOfUser: true },
      people: person(() => ({ response: 'cancel', answers: {} })).people,
    });
    const extension = { id: server.id, name: server.name, tools: server.tools };
    const { client, uri, puppet, clock } = await openPuppetFixture({ extensions: [extension] });
    const outcome = puppet.turn.callTool({ id: 'c1', name: 'mcp__notes__ask', input: {} });
    await expect.poll(async () => (await stateOf(client, uri)).activeTurn?.responseParts.length, POLL).toBe(1);
    client.dispatch(uri, {
      ...{ type: 'session/toolCallConfirmed', turnId: 't1', toolCallId: 'c1', selectedOptionId: 'approve' },
      ...{ approved: true, confirmed: 'user-action' },
    });
    await expect.poll(async () => (await stateOf(client, uri)).inputRequests?.length, POLL).toBe(1);
    await clock.advance(MCP_CALL_TIMEOUT_MS * 3);
    const [request] = (await stateOf(client, uri)).inputRequests ?? [];
    expect(request?.message).toBe('The MCP server notes asks: Who are you?');
    client.dispatch(uri, {
      ...{ type: 'session/inputCompleted', requestId: request?.id ?? '', response: 'accept' },
      answers: { name: submitted({ kind: 'text', value: 'Ada' }) },
    });
    expect(await outcome).toMatchObject({ success: true, text: '{"action":"accept","content":{"name":"Ada"}}' });
    await inState(server, 'ready');
  });
});

describe('sampling', { timeout: 60_000 }, () => {
  it('is declined by name, and not among the capabilities', async () => {
    const { server } = await fixture.ready(processConfig('good'));
    const { answer, capabilities } = JSON.parse(textOf(await call(server, 'sample')));
    expect(answer).toEqual({
      code: -32601,
      message: expect.stringContaining('This host (Atrium) does not offer sampling to MCP servers.'),
    });
    expect(capabilities).toEqual({ elicitation: { form: {}, url: {} }, roots: { listChanged: true } });
  });
});
