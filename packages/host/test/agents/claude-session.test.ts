/** What a session with Claude hears and remembers, turn by turn. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import { describe, expect, it } from 'vitest';
import { hasClaude, WHY_SKIPPED } from '../support/claude-agent.js';
import { bash, ClaudeFixture, callIn, callsOf } from '../support/claude-fixture.js';
import { textIn } from '../support/session-fixture.js';

const LIMIT = 60_000;
/** A picture of one point. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ONE = { text: ['One.'] };
const TWO = { text: ['Two.'] };
const THREE = { text: ['Three.'] };

/** The tools that a request offers to the model. */
function offered(fixture: ClaudeFixture, index: number): string[] {
  const { tools } = fixture.claude.server.requests.at(index)?.body ?? {};
  return (tools as { name: string }[]).map(({ name }) => name);
}

const countTool: HostTool = {
  definition: {
    name: 'fruit.count',
    description: 'Counts fruit.',
    inputSchema: { type: 'object', properties: { fruit: { enum: ['plum', 'pear'] } }, required: ['fruit'] },
  },
  displayName: 'Count',
  invocationMessage: () => 'Count fruit',
  run: async (_input, { progress }) => {
    progress([{ type: 'text', text: 'at 3' }]);
    return { success: true, pastTenseMessage: 'Counted', content: [{ type: 'text', text: 'seven in all' }] };
  },
};

describe.skipIf(!hasClaude)(`a session with Claude${WHY_SKIPPED}`, { timeout: LIMIT }, () => {
  it('shows the model an image that a tool of the host gave back', async () => {
    const content = [{ type: 'embeddedResource' as const, contentType: 'image/png', data: DOT }];
    const shot: HostTool = { ...countTool, run: async () => ({ success: true, pastTenseMessage: 'Took it', content }) };
    const use = callsOf({ name: 'mcp__host__fruit_count', input: { fruit: 'plum' } });
    const fixture = await ClaudeFixture.open([use, ONE], { extension: { tools: [shot] } });
    const turn = await fixture.turn('look');
    expect([textIn(turn.responseParts), callIn(turn).status]).toEqual(['One.', 'completed']);
    expect(fixture.heard()).toContain(DOT);
  });

  it('[UNI-090] puts what others add behind its own prompt, and as it is now in every turn', async () => {
    let rule = 'Speak of plums.';
    const fixture = await ClaudeFixture.open([ONE, TWO], { extension: { prompt: { rules: () => [rule] } } });
    await fixture.turn('first');
    rule = 'Speak of pears.';
    await fixture.turn('second');
    const [before, after] = [fixture.system(0), fixture.system(1)];
    expect([before.includes('Speak of plums.'), after.includes('Speak of plums.')]).toEqual([true, false]);
    expect(after.indexOf('Speak of pears.')).toBeGreaterThan(after.indexOf('Claude'));
    expect(fixture.heard()).toContain('first');
  });

  it('[UNI-091] hears what the model alone is to know, however long it is', async () => {
    const texts = ['short of it', `START ${'long '.repeat(6_000)}FINISH`];
    const beforeTurn = async () => ({ context: texts.shift() ?? '' });
    const fixture = await ClaudeFixture.open([ONE, TWO], { extension: { beforeTurn } });
    await fixture.turn('first');
    expect(fixture.heard()).toContain('short of it');
    await fixture.turn('second');
    expect([fixture.heard().includes('START long'), fixture.heard().includes('long FINISH')]).toEqual([true, true]);
  });

  it('[UNI-087] [UNI-094] calls a tool of an extension, with the schema that it has, and shows its progress', async () => {
    const answers = [callsOf({ name: 'mcp__host__fruit_count', input: { fruit: 'plum' } }), ONE];
    const fixture = await ClaudeFixture.open(answers, { extension: { tools: [countTool] } });
    const turn = await fixture.turn('count');
    expect(callIn(turn)).toMatchObject({ toolName: 'fruit.count', displayName: 'Count', success: true });
    expect(turn.responseParts.filter(({ kind }) => kind === 'toolCall')).toHaveLength(1);
    const shown = await fixture.action(({ type }) => type === 'session/toolCallContentChanged');
    expect(shown.content).toEqual([{ type: 'text', text: 'at 3' }]);
    const { tools } = fixture.claude.server.requests[0]?.body ?? {};
    const tool = (tools as { name: string; input_schema: object }[]).find(({ name }) => name.endsWith('fruit_count'));
    expect(tool?.input_schema).toMatchObject(countTool.definition.inputSchema ?? {});
    expect(fixture.heard()).toContain('seven in all');
  });

  it('[UNI-087] calls a tool of the active client, from the turn after it was offered', async () => {
    const fixture = await ClaudeFixture.open([ONE, callsOf({ name: 'mcp__host__look', input: { at: 'garden' } }), TWO]);
    await fixture.turn('first');
    const activeClient = { clientId: 'desk', tools: [{ name: 'look', inputSchema: { type: 'object' as const } }] };
    fixture.dispatch({ type: 'session/activeClientChanged', activeClient });
    const turnId = fixture.begin('look');
    const { toolCallId } = await fixture.action(({ type }) => type === 'session/toolCallReady');
    const content = [{ type: 'text', text: 'a tree' }];
    const result = { success: true, pastTenseMessage: 'Looked', content };
    fixture.dispatch({ type: 'session/toolCallComplete', turnId, toolCallId, result });
    expect(callIn(await fixture.finished(turnId))).toMatchObject({ toolName: 'look', toolClientId: 'desk' });
    expect(fixture.heard()).toContain('a tree');
    const names = [0, 1].map((index) => offered(fixture, index).includes('mcp__host__look'));
    expect(names).toEqual([false, true]);
  });

  it('[UNI-092] answers in the same turn what a person adds while it speaks', async () => {
    const fixture = await ClaudeFixture.open([ONE, TWO]);
    const turnId = fixture.begin('first');
    const steering = { kind: 'steering' as const, id: 's-1', userMessage: { text: 'and the pears?' } };
    fixture.dispatch({ type: 'session/pendingMessageSet', ...steering });
    const { state, responseParts } = await fixture.finished(turnId);
    expect([state, textIn(responseParts)]).toEqual(['complete', 'One.Two.']);
    expect(fixture.heard()).toContain('and the pears?');
    expect((await fixture.state()).steeringMessage).toBeUndefined();
  });

  it('goes on after the host was started anew, also where history was cut meanwhile', async () => {
    const fixture = await ClaudeFixture.open([ONE, TWO, THREE, { text: ['Four.'] }]);
    const { id } = await fixture.turn('first of all');
    await fixture.turn('second of all');
    await fixture.restart();
    fixture.dispatch({ type: 'session/truncated', turnId: id });
    await fixture.turn('third of all');
    const words = ['first of all', 'One.', 'second of all', 'Two.'];
    expect(words.filter((text) => fixture.heard().includes(text))).toEqual(['first of all', 'One.']);
    await fixture.turn('fourth of all');
    const later = [...words, 'third of all', 'Three.'].filter((text) => fixture.heard().includes(text));
    expect(later).toEqual(['first of all', 'One.', 'third of all', 'Three.']);
  });

  it('is told what came before when its own memory is gone', async () => {
    const fixture = await ClaudeFixture.open([bash('echo apples'), ONE, TWO, THREE]);
    await fixture.turn('first of all');
    await rm(path.join(fixture.claude.configDir, 'projects'), { recursive: true });
    expect(textIn((await fixture.turn('second of all')).responseParts)).toBe('Two.');
    await fixture.turn('third of all');
    const words = ['first of all', 'apples', 'One.', 'second of all', 'Two.', 'third of all'];
    expect(words.filter((text) => !fixture.heard().includes(text))).toEqual([]);
  });

  it('remembers where it was stopped', async () => {
    const fixture = await ClaudeFixture.open([{ text: ['so far'], ending: 'hang' }, TWO]);
    const turnId = fixture.begin('first of all');
    await fixture.action(({ type }) => type === 'session/delta');
    fixture.dispatch({ type: 'session/turnCancelled', turnId });
    await fixture.turn('second of all');
    expect(['first of all', 'so far', 'second of all'].filter((text) => !fixture.heard().includes(text))).toEqual([]);
  });

  it('says how to log in when it has neither a key nor a login', async () => {
    const fixture = await ClaudeFixture.open([], { agent: { env: { ANTHROPIC_API_KEY: undefined } } });
    const { error } = await fixture.turn('first');
    expect(error?.errorType).toBe('auth');
    expect(error?.message).toContain('ANTHROPIC_API_KEY');
    expect(fixture.claude.server.requests).toEqual([]);
  });

  it('says once that it tries again when the model cannot be reached', async () => {
    const down = { status: 529, message: 'Overloaded' };
    const env = { CLAUDE_CODE_MAX_RETRIES: '2' };
    const fixture = await ClaudeFixture.open([down, down, ONE], { agent: { env } });
    const { responseParts } = await fixture.turn('first');
    const notes = responseParts.flatMap((part) => (part.kind === 'systemNotification' ? part.content : []));
    expect(notes).toEqual(['The model cannot be reached; Claude tries again, up to 2 times.']);
    expect(textIn(responseParts)).toBe('One.');
  });

  it('counts what was read from the cache, over all steps of a turn', async () => {
    const fixture = await ClaudeFixture.open([
      { ...bash('ls'), usage: { input: 100, output: 5, cached: 40 } },
      { ...ONE, usage: { input: 120, output: 7, cached: 90 } },
    ]);
    const { usage } = await fixture.turn('first');
    expect(usage).toMatchObject({ inputTokens: 220, outputTokens: 12, cacheReadTokens: 130, model: 'm-1' });
  });

  it('sees the images that came with a message', async () => {
    const fixture = await ClaudeFixture.open([ONE]);
    const attachment = { type: 'embeddedResource', label: 'dot', data: DOT, contentType: 'image/png' };
    const userMessage = { text: 'what is it?', attachments: [attachment] };
    fixture.dispatch({ type: 'session/turnStarted', turnId: 't-image', userMessage });
    expect((await fixture.finished('t-image')).state).toBe('complete');
    const { messages } = fixture.claude.server.requests[0]?.body ?? {};
    expect(JSON.stringify(messages)).toContain('"media_type":"image/png"');
  });

  it('takes words for words: no commands, and no files but those that are asked for', async () => {
    const fixture = await ClaudeFixture.open([ONE, TWO], { files: { 'a.txt': 'apples' } });
    await fixture.turn('/clear @a.txt');
    expect([fixture.heard().includes('/clear @a.txt'), fixture.heard().includes('apples')]).toEqual([true, false]);
  });
});
