import type { HostTool } from '@atrium/core/contracts/tool.js';
import { describe, expect, it } from 'vitest';
import { hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { CopilotFixture, callIn, WAIT_MAX_MS } from '../support/copilot-fixture.js';
import { textIn } from '../support/session-fixture.js';
import { echoTool } from '../support/tools.js';

const call = (name: string, input: object = {}) => ({ calls: [{ name, input }] });

describe.skipIf(!hasCopilot)(`tools that Copilot is given${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('are called as tool calls of the host: a person is asked once, by the host alone', async () => {
    const echo = echoTool('notes.add', { confirmation: { title: 'Note it?' }, work: () => 'noted under 7' });
    const fixture = await CopilotFixture.open([call('notes_add', { text: 'plums' }), { text: ['Noted.'] }], {
      extension: { tools: [echo] },
    });
    const turnId = fixture.begin('note it');
    const { toolCallId, confirmationTitle } = await fixture.question(turnId);
    expect(confirmationTitle).toBe('Note it?');
    fixture.approve(turnId, toolCallId);
    const turn = await fixture.finished(turnId);
    expect([turn.state, textIn(turn.responseParts), fixture.questions]).toEqual(['complete', 'Noted.', 1]);
    expect(callIn(turn)).toMatchObject({ toolName: 'notes.add', status: 'completed', success: true });
    expect([echo.runs, fixture.heard().includes('noted under 7')]).toEqual([[{ text: 'plums' }], true]);
  });

  it('show the model an image that they gave back', async () => {
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const content = [{ type: 'embeddedResource' as const, contentType: 'image/png', data }];
    const shot: HostTool = {
      ...echoTool('shot'),
      run: async () => ({ success: true, pastTenseMessage: 'Took it', content }),
    };
    const models = [true, false].map((supportsVision) => ({ id: `m-${supportsVision}`, name: 'M', supportsVision }));
    const fixture = await CopilotFixture.open([call('shot'), { text: ['A pixel.'] }, { text: ['No idea.'] }], {
      extension: { tools: [shot] },
      agent: { models },
    });
    const turn = await fixture.turn('look');
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', 'A pixel.']);
    expect(fixture.heard()).toContain(data);
    fixture.dispatch({ type: 'session/modelChanged', model: { id: 'm-false' } });
    await fixture.turn('and now?');
    expect(fixture.heard()).not.toContain(data);
    expect(fixture.heard()).toContain('[image/png, shown to you if you can see]');
  });

  it('may be those of the active client', async () => {
    const fixture = await CopilotFixture.open([call('look', { at: 'plums' }), { text: ['Seen.'] }]);
    const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' as const } }];
    fixture.dispatch({ type: 'session/activeClientChanged', activeClient: { clientId: 'desk', tools } });
    const turnId = fixture.begin('look');
    const ready = await fixture.action(({ type }) => type === 'session/toolCallReady');
    const result = {
      success: true,
      pastTenseMessage: 'Looked',
      content: [{ type: 'text' as const, text: 'six plums' }],
    };
    fixture.dispatch({ type: 'session/toolCallComplete', turnId, toolCallId: String(ready.toolCallId), result });
    const turn = await fixture.finished(turnId);
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', 'Seen.']);
    expect(callIn(turn)).toMatchObject({ toolName: 'look', toolClientId: 'desk', status: 'completed' });
    expect(fixture.heard()).toContain('six plums');
  });

  it('[CUS-030] leave out what a custom agent does not use, and come back with the next agent', async () => {
    let isHidden = (_name: string) => false;
    const fixture = await CopilotFixture.open([{ text: ['One.'] }, { text: ['Two.'] }, { text: ['Three.'] }], {
      extension: { tools: [echoTool('first'), echoTool('second')], hidden: () => isHidden },
    });
    await fixture.turn('say one');
    const all = fixture.toolNames();
    expect(all).toEqual(expect.arrayContaining(['bash', 'view', 'first', 'second']));
    expect(fixture.copilot.agent.ownToolNames?.()).toEqual(expect.arrayContaining(['bash', 'view']));
    isHidden = (name) => name !== 'view' && name !== 'first';
    await fixture.turn('say two');
    expect(fixture.toolNames().sort()).toEqual(['first', 'view']);
    isHidden = () => false;
    await fixture.turn('say three');
    expect(fixture.toolNames().sort()).toEqual(all.sort());
    expect(fixture.heard()).toContain('say one');
  });

  it('[UNI-087] change between turns, and the conversation goes on', async () => {
    const tools: HostTool[] = [echoTool('first')];
    const fixture = await CopilotFixture.open([{ text: ['One.'] }, { text: ['Two.'] }, { text: ['Three.'] }], {
      extension: { tools },
    });
    await fixture.turn('say one');
    expect(fixture.toolNames()).toContain('first');
    tools.splice(0, 1, echoTool('second'));
    await fixture.turn('say two');
    expect(fixture.toolNames()).toContain('second');
    expect(fixture.toolNames()).not.toContain('first');
    tools.splice(0, 1);
    await fixture.turn('say three');
    expect(fixture.toolNames()).not.toContain('second');
    const known = ['say one', 'One.', 'say two', 'Two.'].filter((words) => fixture.heard().includes(words));
    expect(known).toEqual(['say one', 'One.', 'say two', 'Two.']);
    expect(fixture.copilot.agent.abilities.tools).toBe('next-turn');
  });

  it("never take the place of one of Copilot's own", async () => {
    const view = echoTool('view');
    const fixture = await CopilotFixture.open(
      [call('host_view'), call('view', { path: 'a.txt' }), { text: ['Done.'] }],
      {
        files: { 'a.txt': 'plums' },
        extension: { tools: [view] },
      },
    );
    await fixture.turn('look');
    expect(fixture.toolNames().filter((name) => name.includes('view'))).toEqual(['view', 'host_view']);
    expect([view.runs.length, fixture.heard().includes('plums')]).toEqual([1, true]);
  });

  it('that fail tell the model so', async () => {
    const broken = echoTool('broken', {
      work: () => {
        throw new Error('the shelf fell down');
      },
    });
    const fixture = await CopilotFixture.open([call('broken'), { text: ['Oh.'] }], { extension: { tools: [broken] } });
    const turn = await fixture.turn('go');
    expect([turn.state, callIn(turn)]).toMatchObject(['complete', { status: 'completed', success: false }]);
    expect(fixture.heard()).toContain('the shelf fell down');
  });

  it('[UNI-092] leave room for what a person says meanwhile, before the next step', async () => {
    const slow = echoTool('slow', { confirmation: { title: 'Go?' } });
    const fixture = await CopilotFixture.open([call('slow'), { text: ['Pears.'] }], { extension: { tools: [slow] } });
    const turnId = fixture.begin('go');
    const { toolCallId } = await fixture.question(turnId);
    const userMessage = { text: 'think of the pears too' };
    fixture.dispatch({ type: 'session/pendingMessageSet', kind: 'steering', id: 's-1', userMessage });
    fixture.approve(turnId, toolCallId);
    await fixture.finished(turnId);
    expect(fixture.copilot.server.requests.length).toBe(2);
    expect(fixture.heard()).toContain('think of the pears too');
    expect(fixture.copilot.agent.abilities.steer).toBe(true);
  });
});
