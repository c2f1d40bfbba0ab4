import { type CompletionItem, commandSource, type ServerPrompt } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../src/plugins/mcp/prompts.js';
import { type CustomFixture, MCP_PROGRAM, openCustomFixture, POLL } from '../support/custom-fixture.js';

async function openPromptFixture(): Promise<CustomFixture> {
  const servers = { notes: { command: process.execPath, args: [MCP_PROGRAM, 'prompts'] } };
  const user = { 'plugins/desk/.mcp.json': JSON.stringify({ mcpServers: servers }) };
  const fixture = await openCustomFixture({ user });
  await expect.poll(() => commandsOf(fixture), POLL).toContain('/desk:notes:review-a-text');
  return fixture;
}

async function completionsOf(fixture: CustomFixture): Promise<CompletionItem[]> {
  const params = { channel: fixture.uri, kind: 'userMessage', text: '/', offset: 1 };
  return (await fixture.client.request<{ items: CompletionItem[] }>('completions', params)).items;
}

async function commandsOf(fixture: CustomFixture): Promise<string[]> {
  return (await completionsOf(fixture)).map(({ insertText }) => insertText.trim());
}

describe('prompts of MCP servers', { timeout: 60_000 }, () => {
  it('[DAY-081] are offered behind a slash with their server, and the server writes them out for the model', async () => {
    const fixture = await openPromptFixture();
    const [first, second, ...others] = await completionsOf(fixture);
    expect([first?.insertText, second?.insertText, others]).toEqual([
      ...['/desk:notes:broken ', '/desk:notes:review-a-text ', []],
    ]);
    expect(commandSource(second?.attachment._meta)).toBe('MCP server notes');
    expect(second?.attachment).toMatchObject({
      modelRepresentation: 'The prompt "desk:notes:review-a-text": <topic> [tone] — Reviews [31ma text.',
    });
    const { turn } = await fixture.turn('/desk:notes:review-a-text rain tone="very kind"');
    expect(turn.context.join()).toContain('REVIEW {"tone":"very kind","topic":"rain"}');
    expect(turn.context.join()).toContain('[Left out: content of the kind image.]');
    expect(turn.context.join()).toContain('of the MCP server notes');
  });

  it('[DAY-081] do not reach the model when an argument is missing, or when the server fails', async () => {
    const fixture = await openPromptFixture();
    const failureOf = async (text: string) => {
      const turnId = crypto.randomUUID();
      fixture.client.dispatch(fixture.uri, { type: 'session/turnStarted', turnId, userMessage: { text } });
      const { action: failed } = await fixture.client.action(
        fixture.uri,
        (action) => action.type === 'session/error' && action.turnId === turnId,
      );
      return (failed.error as { message: string }).message;
    };
    expect(await failureOf('/desk:notes:review-a-text')).toBe(
      '/desk:notes:review-a-text needs topic. Write /desk:notes:review-a-text <topic> [tone]',
    );
    expect(await failureOf('/desk:notes:broken')).toContain('did not give its prompt: MCP error');
  });

  it('[DAY-081] are listed anew when the server says that they changed', async () => {
    const fixture = await openPromptFixture();
    const { turn } = await fixture.turn('go');
    const name = 'mcp__plugin_desk_notes__grow';
    const call = turn.callTool({ id: 'c1', name, input: { text: 'later' } });
    fixture.client.dispatch(fixture.uri, {
      ...{ type: 'session/toolCallConfirmed', turnId: 't1', toolCallId: 'c1' },
      ...{ approved: true, confirmed: 'user-action' },
    });
    await call;
    await expect.poll(() => commandsOf(fixture), POLL).toContain('/desk:notes:later');
  });
});

describe('the arguments of a prompt', () => {
  const prompt: ServerPrompt = {
    command: 'a:b',
    arguments: [{ name: 'one', required: true }, { name: 'two', required: true }, { name: 'rest' }],
  };

  it.each([
    ['1 2', { one: '1', two: '2' }],
    ['"1 2" three four  five', { one: '1 2', two: 'three', rest: 'four  five' }],
    ['rest=r 1 2', { one: '1', two: '2', rest: 'r' }],
    ["two='it is' 1", { one: '1', two: 'it is' }],
    ['x=1 2', { one: 'x=1', two: '2' }],
  ])('[DAY-081] are read from %s', (typed, values) => {
    expect(readArguments(prompt, typed)).toEqual({ kind: 'given', values });
  });

  it('[DAY-081] are named when they are missing', () => {
    expect(readArguments(prompt, '1')).toEqual({ kind: 'missing', names: ['two'] });
  });
});
