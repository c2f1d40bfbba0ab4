import type { Extension } from '@atrium/core/contracts/extension.js';
import { describe, expect, it } from 'vitest';
import { hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { CopilotFixture, WAIT_MAX_MS } from '../support/copilot-fixture.js';
import type { Message } from '../support/test-host.js';

const text = (said: string) => ({ text: [said] });

/** The text of the section, as the runtime itself puts it to the model. */
function safetyIn(system: string): string {
  const [, safety] = /<environment_limitations>([\s\S]+)<\/environment_limitations>/.exec(system) ?? [];
  if (safety === undefined) throw new Error('there is no safety section');
  return safety;
}

/** The client rewrites these sections from now on, and answers every request. Returns the requests. */
async function rewrite(fixture: CopilotFixture, sections: readonly string[], by: (content: string) => string) {
  const requests: Message[] = [];
  const answered = new Set<unknown>();
  const activeClient = { clientId: 'desk', tools: [], systemMessageTransform: { sections: [...sections] } };
  fixture.dispatch({ type: 'session/activeClientChanged', activeClient });
  await fixture.action(({ type }) => type === 'session/activeClientChanged');
  const { client } = fixture;
  void client
    .until((message) => {
      if (message.method !== 'systemMessageTransform' || answered.has(message.id)) return false;
      answered.add(message.id);
      requests.push(message);
      const asked = message.params?.sections as Record<string, { content: string }>;
      const changed = Object.entries(asked).map(([id, { content }]) => [id, { content: by(content) }]);
      client.send({ id: message.id, result: { sections: Object.fromEntries(changed) } });
      return false;
    }, WAIT_MAX_MS)
    .catch(() => {});
  return requests;
}

const sectionsOf = (request: Message | undefined) => Object.keys(request?.params?.sections ?? {});

describe.skipIf(!hasCopilot)(`Copilot's prompt${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('names everything that is attached, though one of it is a picture', async () => {
    const fixture = await CopilotFixture.open([text('one')]);
    const attachments = [
      { type: 'embeddedResource', label: 'plum.png', data: 'AA==', contentType: 'image/png' },
      { type: 'resource', label: 'plums.txt', uri: 'file:///a/plums.txt' },
      { type: 'simple', label: 'selection', modelRepresentation: 'the blue ones' },
    ];
    fixture.dispatch({ type: 'session/turnStarted', turnId: 't1', userMessage: { text: 'look', attachments } });
    await fixture.finished('t1');
    const wanted = ['look', 'plum.png', 'plums.txt: file:///a/plums.txt', 'the blue ones'];
    expect(wanted.filter((words) => !fixture.heard().includes(words))).toEqual([]);
  });

  it('[UNI-035] [UNI-090] [SMT-030] is published as a catalogue, safety and identity restricted', async () => {
    const { copilot } = await CopilotFixture.open([]);
    const { abilities, info } = copilot.agent;
    const sections = info.systemMessageSections ?? [];
    expect(abilities.render).toBe('sections');
    expect(sections.filter(({ restricted }) => restricted).map(({ id }) => id)).toEqual([
      'identity',
      'preamble',
      'safety',
    ]);
    expect(sections.filter(({ restricted }) => !restricted).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['tone', 'tool_efficiency', 'environment_context', 'custom_instructions']),
    );
  });

  it('[UNI-036] [SMT-022] [SMT-025] is rewritten by a client that opts in mid-session: one request per turn', async () => {
    const fixture = await CopilotFixture.open([text('one'), text('two'), text('three')]);
    await fixture.turn('before');
    expect(fixture.system()).not.toContain('SHOUT');
    const requests = await rewrite(fixture, ['tone', 'guidelines'], (content) => `SHOUT(${content.slice(0, 16)})`);
    await fixture.turn('after');
    expect(fixture.system()).toContain('SHOUT(# Tone and style)');
    expect(fixture.system().match(/SHOUT/g)?.length).toBe(2);
    await fixture.turn('once more');
    expect(fixture.system()).toContain('SHOUT(# Tone and style)');
    expect(requests.map(sectionsOf)).toEqual([
      ['tone', 'guidelines'],
      ['tone', 'guidelines'],
    ]);
  });

  it('goes back to what it was when the client lets go', async () => {
    const fixture = await CopilotFixture.open([text('one'), text('two')]);
    await rewrite(fixture, ['tone'], () => 'SHOUT');
    await fixture.turn('one');
    expect(fixture.system()).toContain('SHOUT');
    fixture.dispatch({ type: 'session/activeClientChanged', activeClient: null });
    await fixture.turn('two');
    expect(fixture.system()).not.toContain('SHOUT');
    expect(fixture.system()).toContain('# Tone and style');
  });

  it('[UNI-101] [UNI-033] [SMT-026] [SMT-027] has safety byte for byte, once, after all that others added', async () => {
    const prompt: Extension['prompt'] = {
      rules: () => ['RULE of a plugin.'],
      transforms: [
        { section: 'safety', action: 'append', content: 'ADDED to safety.' },
        { section: 'preamble', action: 'append', content: 'ADDED to preamble.' },
        { section: 'last_instructions', action: 'append', content: 'ADDED at the end.' },
        { section: 'tool_instructions', action: 'prepend', content: 'ADDED to the tools.' },
      ],
    };
    const plain = await CopilotFixture.open([text('one')]);
    await plain.turn('one');
    const safety = safetyIn(plain.system());

    const fixture = await CopilotFixture.open([text('one')], { extension: { prompt } });
    const sections = ['environment_context', 'safety', 'preamble', 'identity', 'runtime_instructions'];
    const requests = await rewrite(fixture, sections, (content) => `CLIENT\n${content}`);
    await fixture.turn('one');
    const system = fixture.system();
    expect(sectionsOf(requests[0])).toEqual(['environment_context', 'runtime_instructions']);
    expect(system.split(safety).length).toBe(2);
    const contributed = ['RULE of a plugin.', 'CLIENT', 'ADDED to', 'ADDED at the end.', 'ADDED to the tools.'];
    for (const words of contributed) {
      expect(system.lastIndexOf(words), words).toBeGreaterThan(-1);
      expect(system.lastIndexOf(words), words).toBeLessThan(system.indexOf(safety));
    }
    // Nothing of Copilot's own got lost on the way.
    expect(system).toContain('You are GitHub Copilot, an AI coding agent built by GitHub.');
    expect(system).toContain('<task_completion>');
  });

  it("[UNI-091] tells the model what a turn's context holds, beside the message and for nobody else", async () => {
    const contexts = ['PLUM season', 'PEAR season'];
    const beforeTurn = async () => ({ context: contexts.shift() ?? '' });
    const fixture = await CopilotFixture.open([text('one'), text('two')], { extension: { beforeTurn } });
    await fixture.turn('first');
    await fixture.turn('second');
    expect([fixture.heard(0).includes('PLUM'), fixture.heard(1).includes('PEAR')]).toEqual([true, true]);
    expect(fixture.system(0)).not.toContain('PLUM');
    expect(JSON.stringify(await fixture.state())).not.toMatch(/PLUM|PEAR/);
  });

  it('[SMT-028] stays as it was when the client does not answer as it should', async () => {
    const fixture = await CopilotFixture.open([text('one')]);
    const activeClient = { clientId: 'desk', tools: [], systemMessageTransform: { sections: ['tone'] } };
    fixture.dispatch({ type: 'session/activeClientChanged', activeClient });
    const turnId = fixture.begin('one');
    const { id } = await fixture.client.until(({ method }) => method === 'systemMessageTransform', WAIT_MAX_MS);
    fixture.client.send({ id, result: { sections: { tone: { content: 7 } } } });
    expect((await fixture.finished(turnId)).state).toBe('complete');
    expect(fixture.system()).toContain('# Tone and style');
  });
});
