/** The model that people choose for an agent behind a command: chosen there where it can be, and said aloud where not. */
import { describe, expect, it } from 'vitest';
import { MODELS_MAX, modelSettingIn } from '../../../agents/src/acp/remote-session.js';
import { type TestSession, textIn } from '../../src/agent-acceptance/test-session.js';
import { ACP_TEST_MAX_MS, acpFixture, notesIn } from '../support/acp-fixture.js';

const patience = { timeout: ACP_TEST_MAX_MS };
const ONE = { text: ['One.'] };
const TWO = { text: ['Two.'] };

function choose(fixture: TestSession, id: string): void {
  fixture.dispatch({ type: 'session/modelChanged', model: { id } });
}

describe('the model of an agent behind a command', patience, () => {
  it('is set before the message that it is chosen for, and not again', async () => {
    const { fixture, subject } = await acpFixture([ONE, TWO, ONE], { ways: ['offers models'] });
    choose(fixture, 'plum-2');
    expect(textIn(await fixture.turn('go'))).toBe('One.');
    expect(await subject.notes()).toEqual([{ configId: 'which', value: 'plum-2' }]);
    await fixture.turn('go on');
    expect(await subject.notes()).toHaveLength(1);
    choose(fixture, 'plum-1');
    await fixture.turn('and back');
    expect((await subject.notes()).at(-1)).toEqual({ configId: 'which', value: 'plum-1' });
  });

  it('is left alone when it is on already, or when nobody chose one', async () => {
    const { fixture, subject } = await acpFixture([ONE, TWO], { ways: ['offers models'] });
    await fixture.turn('go');
    choose(fixture, 'plum-1');
    expect(notesIn((await fixture.turn('go on')).responseParts)).toEqual([]);
    expect(await subject.notes()).toEqual([]);
  });

  it('is set in a process that starts later, too', async () => {
    const { fixture, subject } = await acpFixture([ONE, { dies: true }, TWO], { ways: ['offers models'] });
    choose(fixture, 'plum-2');
    await fixture.turn('go');
    await fixture.turn('die');
    expect(textIn(await fixture.turn('again'))).toBe('Two.');
    expect(await subject.notes()).toEqual([
      { configId: 'which', value: 'plum-2' },
      { loaded: expect.any(String) },
      { configId: 'which', value: 'plum-2' },
    ]);
  });

  it('is set again when the agent changed it by itself', async () => {
    const setting = { id: 'which', name: 'Model', type: 'select', category: 'model', currentValue: 'plum-1' };
    const options = ['plum-1', 'plum-2'].map((value) => ({ value, name: value }));
    const update = { sessionUpdate: 'config_option_update', configOptions: [{ ...setting, options }] };
    const { fixture, subject } = await acpFixture([{ ...ONE, updates: [update] }, TWO], { ways: ['offers models'] });
    choose(fixture, 'plum-2');
    await fixture.turn('go');
    await fixture.turn('go on');
    expect(await subject.notes()).toHaveLength(2);
  });

  it('can be chosen by people once the agent has told which there are', async () => {
    const { fixture, subject } = await acpFixture([ONE], { ways: ['offers models'] });
    expect(subject.agent.info.models).toEqual([]);
    let changes = 0;
    subject.agent.whenInfoChanges?.(() => changes++);
    await fixture.turn('go');
    expect(changes).toBe(1);
    expect(subject.agent.info.models).toMatchObject([
      { id: 'plum-1', name: 'PLUM-1', provider: 'orchard' },
      { id: 'plum-2', name: 'PLUM-2', provider: 'orchard' },
      { id: 'broken', name: 'BROKEN', provider: 'orchard' },
    ]);
  });

  it.each([
    ['offers models' as const, 'pear', 'it offers plum-1, plum-2, broken, and goes on with plum-1.'],
    [
      'offers models' as const,
      'broken',
      'Orchard failed. Try again; if it keeps failing, look at its own log. (the orchard is closed)',
    ],
    ['cannot load' as const, 'pear', 'it chooses its model itself. Choose it in the settings of the agent.'],
  ])('that is not to be had is told of once, and the turn goes on (%s, %s)', async (way, model, why) => {
    const { fixture } = await acpFixture([ONE, TWO], { ways: [way] });
    choose(fixture, model);
    const turn = await fixture.turn('go');
    expect([textIn(turn), notesIn(turn.responseParts)]).toEqual([
      'One.',
      [`Orchard does not work with the model ${model}: ${why}`],
    ]);
    expect(notesIn((await fixture.turn('go on')).responseParts)).toEqual([]);
  });
});

describe('the settings that an agent tells of', () => {
  const model = (options: unknown) => [{ id: 'm', type: 'select', category: 'model', currentValue: 'a', options }];

  it.each([undefined, null, 'x', [null, 1], [{ category: 'model' }], [{ id: 'x', type: 'select', category: 'mode' }]])(
    'may be anything: %j',
    (value) => expect(modelSettingIn(value)).toBeUndefined(),
  );

  it('are taken within limits', () => {
    const many = Array.from({ length: 2 * MODELS_MAX }, (_, index) => ({ value: `m-${index}`, name: 'M' }));
    expect(modelSettingIn(model(many))?.models).toHaveLength(MODELS_MAX);
    const odd = [{ value: 7 }, { value: '' }, { value: 'x'.repeat(10_000) }, { value: 'good' }, null];
    expect(modelSettingIn(model(odd))).toEqual({ configId: 'm', current: 'a', models: [{ id: 'good', name: 'good' }] });
  });
});
