import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ToolResultContent } from '@atrium/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MCP_CALL_TIMEOUT_MS, MCP_DESCRIPTION_MAX_CHARACTERS, MCP_TOOLS_MAX } from '../../src/plugins/mcp/limits.js';
import { call, McpFixture, POLL, processConfig, textOf, toolOf } from '../support/mcp-fixture.js';
import { temporaryFolder } from '../tools/tool-box.js';

const fixture = new McpFixture();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => fixture.close());
afterAll(() => remove());

const namesOf = (server: { tools: readonly { definition: { name: string } }[] }) =>
  server.tools.map(({ definition }) => definition.name);

describe('the tools of a server', { timeout: 30_000 }, () => {
  it('[CUS-084] [CUS-085] [CUS-086] are tools of the host, under their names, with all that the server says of them', async () => {
    const { server } = await fixture.ready(processConfig('good'), { id: 'mcp:1', name: 'notes' });
    const { definition, displayName, owner, callMeta, timeoutMs } = toolOf(server, 'echo');
    expect(definition).toEqual({
      name: 'mcp__notes__echo',
      title: 'Echo',
      description: 'Says it again.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      annotations: { readOnlyHint: true },
    });
    expect({ displayName, owner, timeoutMs }).toEqual({
      ...{ displayName: 'Echo', owner: 'mcp:1', timeoutMs: MCP_CALL_TIMEOUT_MS },
    });
    expect(callMeta).toEqual({ mcp: { customizationId: 'mcp:1', server: 'notes', tool: 'echo' } });
    expect(toolOf(server, 'fail').displayName).toBe('notes: fail');
  });

  it('[CUS-084] carry the name of the plugin that declares the server', async () => {
    const { server } = await fixture.ready(processConfig('good'), { name: 'notes', plugin: 'office' });
    expect(namesOf(server)).toContain('mcp__plugin_office_notes__echo');
  });

  it('ask a person first, whatever the server of a project or a client says of them', async () => {
    const { server } = await fixture.ready(processConfig('good'));
    expect(toolOf(server, 'echo').definition.annotations).toEqual({ readOnlyHint: true });
    expect(toolOf(server, 'echo').confirmation?.({})).toMatchObject({ title: 'Use Echo of the MCP server test?' });
  });

  it("ask a person first, except those of the user's own servers that only read", async () => {
    const { server } = await fixture.ready(processConfig('good'), { isOfUser: true });
    expect(toolOf(server, 'echo').confirmation?.({})).toBeUndefined();
    expect(toolOf(server, 'fail').confirmation?.({})).toEqual({
      title: 'Use test: fail of the MCP server test?',
      editable: true,
      options: [
        { id: 'approve', label: expect.any(String), kind: 'approve' },
        { id: 'allow-session', label: expect.any(String), kind: 'approve' },
        { id: 'deny', label: expect.any(String), kind: 'deny' },
      ],
    });
  });

  it('[UNI-026] give back text, bytes, links and structured values', async () => {
    const { server } = await fixture.ready(processConfig('good'));
    const output = await call(server, 'blocks');
    expect(output).toEqual({
      success: true,
      pastTenseMessage: 'Used test: blocks',
      content: [
        { type: 'text', text: 'See:' },
        { type: 'embeddedResource', data: 'aW1n', contentType: 'image/png' },
        { type: 'embeddedResource', data: 'c25k', contentType: 'audio/wav' },
        { type: 'text', text: 'a note' },
        { type: 'embeddedResource', data: 'Ymlu', contentType: 'application/octet-stream' },
        { type: 'text', text: '[second: note://2]' },
        { type: 'resource', uri: 'note://2', contentType: 'text/plain', sizeHint: 5 },
      ],
      structuredContent: { answer: 42 },
    });
  });

  it('[UNI-026] fail in the words of the server', async () => {
    const { server } = await fixture.ready(processConfig('good'));
    const { success, error, content } = await call(server, 'fail');
    expect({ success, error, content }).toEqual({
      success: false,
      error: { code: 'TOOL_ERROR', message: 'That went wrong.' },
      content: [{ type: 'text', text: 'That went wrong.' }],
    });
    expect((await call(server, 'echo', 'text')).error?.code).toBe('BAD_INPUT');
  });

  it('show how far they are', async () => {
    const { server } = await fixture.ready(processConfig('good'));
    const shown: ToolResultContent[][] = [];
    const output = await call(server, 'steps', {}, { progress: (content) => shown.push(content) });
    expect(textOf(output)).toBe('stepped');
    expect(shown[0]).toEqual([{ type: 'text', text: 'Step 1 (1 of 3)' }]);
    // Not every step need be shown, but each once at most, and in order.
    const steps = shown.flat().map((block) => ('text' in block ? block.text : ''));
    expect(steps.length).toBeGreaterThan(1);
    expect(steps).toEqual([...new Set(steps)].sort());
  });

  it('tell the server when they are cancelled, once, and not after they are done', async () => {
    const file = path.join(folder, 'cancelled');
    const { server } = await fixture.ready(processConfig('good', file));
    const cancelling = new AbortController();
    await call(server, 'echo', { text: 'done before' }, { signal: cancelling.signal });
    const running = call(server, 'wait', {}, { signal: cancelling.signal });
    await expect.poll(() => readFile(file, 'utf8').catch(() => ''), POLL).toBe('waiting\n');
    cancelling.abort();
    expect((await running).error).toEqual({ code: 'CANCELLED', message: 'Cancelled before it was done.' });
    await expect.poll(() => readFile(file, 'utf8'), POLL).toBe('waiting\ncancelled: The call was cancelled.\n');
    expect(textOf(await call(server, 'echo', { text: 'still there' }))).toBe('still there');
  });

  it('fail at once when the server does not run any more', async () => {
    const { server } = await fixture.ready(processConfig('good'));
    const echo = toolOf(server, 'echo');
    await server.stop();
    const context = { cwd: undefined, signal: new AbortController().signal, progress: () => {} };
    const { error } = await echo.run({}, context);
    expect(error).toEqual({ code: 'NOT_RUNNING', message: 'The MCP server test is not running now.' });
  });

  it('[CUS-086] are read again when the server says that they changed', async () => {
    const { server, states } = await fixture.ready(processConfig('good'));
    const before = states.length;
    for (const text of ['one', 'two', 'three']) await call(server, 'grow', { text });
    await expect.poll(() => namesOf(server), POLL).toContain('mcp__test__three');
    expect(namesOf(server)).toEqual(expect.arrayContaining(['mcp__test__one', 'mcp__test__two']));
    expect(states.slice(before).every(({ kind }) => kind === 'ready')).toBe(true);
    expect(states.length).toBeGreaterThan(before);
  });

  it('are bounded in number, and pages without end are not turned for ever', async () => {
    const { server } = await fixture.ready(processConfig('many'));
    expect(server.tools).toHaveLength(MCP_TOOLS_MAX);
    expect(fixture.logged.join('\n')).toContain('Some tools of an MCP server are left out');
    const endless = await fixture.ready(processConfig('endless'));
    expect(endless.server.tools).toEqual([]);
  });

  it('may be none at all', async () => {
    const { server, states } = await fixture.ready(processConfig('toolless'));
    expect(server.tools).toEqual([]);
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'ready']);
  });

  it('[CUS-084] get fitting names whatever they are called; what is no tool is left out', async () => {
    const { server } = await fixture.ready(processConfig('weird'));
    const names = namesOf(server);
    expect(names).toHaveLength(5);
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(toolOf(server, 'wordy').definition.description).toHaveLength(MCP_DESCRIPTION_MAX_CHARACTERS);
    expect(toolOf(server, 'plain').definition).toMatchObject({ name: 'mcp__test__plain' });
    expect(toolOf(server, 'plain').definition.annotations).toEqual({ title: 'Plain one', destructiveHint: false });
    expect(toolOf(server, 'plain').displayName).toBe('Plain one');
  });
});
