/** The prompt: what the agent declares, and what others add to it, reaches whatever thinks, as far as it says. */
import type { Suite } from './suite.js';

const RULE = 'Speak of fruit in the plural.';
const CONTEXT = 'It is plum season.';

export function renderAcceptance({ test, expect, shows }: Suite): void {
  if (!shows('heard')) return;
  const answer = [{ text: ['Yes.'] }];

  test(
    '[UNI-098] puts every section that it declares to whatever thinks, and declares none without that ability',
    answer,
    async (room) => {
      await room.turn('is it?');
      const heard = await room.heard();
      const texts = Object.values(room.agent.sections);
      expect(texts.filter((text) => !heard.includes(text))).toEqual([]);
      const { abilities, info } = room.agent;
      const declared = (info.systemMessageSections ?? []).map(({ id }) => id);
      if (abilities.render !== 'sections') expect(declared).toEqual([]);
      // The text itself may be known only at a render; then it is handed in there.
      else expect(declared.length > 0).toBe(true);
    },
  );

  test(
    '[UNI-090] hears what others add to the prompt, if it says that it takes such text',
    answer,
    async (room) => {
      await room.turn('is it?');
      expect((await room.heard()).includes(RULE)).toBe(room.agent.abilities.render !== 'none');
    },
    { prompt: { rules: () => [RULE] } },
  );

  test(
    '[UNI-091] hears what the model alone is to know of a turn',
    answer,
    async (room) => {
      const turn = await room.turn('is it?');
      expect((await room.heard()).includes(CONTEXT)).toBe(true);
      expect(JSON.stringify(turn).includes(CONTEXT)).toBe(false);
    },
    { beforeTurn: async () => ({ context: CONTEXT }) },
  );
}
