/** /permissions in the chat: lists rules, adds, removes and tries them. */
import { MODE_LABELS, modeIn, RULE_EFFECTS, WRITABLE_SCOPES } from '@atrium/protocol/ahp-1';
import { addRule, effectIn, listRules, removeRule, rulesText, testCommand, verdictText } from '../permission-rules.js';
import type { Task } from './tasks.js';

const HOW =
  'Write /permissions allow shell(git diff *) [session, project or person], the same with ask or deny, /permissions remove 2, or ' +
  '/permissions test git push.';

export function permissions(words: string): Task {
  return async ({ client, open, view, show, note }) => {
    const where = { channel: open.session.uri };
    const list = await listRules(client, where);
    const [, action = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(words) ?? [];
    if (words === '') {
      const { style, columns } = view();
      const mode = MODE_LABELS[modeIn(open.state.session.config?.values)];
      const lines = rulesText(list, columns - 2)
        .split('\n')
        .map((line) => `  ${line}`);
      return show([style.bold(`Permission rules; the mode is ${mode}`), ...lines, style.dim(`  ${HOW}`), '']);
    }
    if (action === 'test' && rest !== '') return note(verdictText(await testCommand(client, where, rest)));
    if (action === 'remove') {
      const found = list.rules[Number(rest) - 1];
      const scope = WRITABLE_SCOPES.find((each) => each === found?.scope);
      if (!found) return note(`There is no rule ${rest}. /permissions lists them.`);
      if (!scope) return note(`This rule stands in ${found.from ?? 'the host'}, and is changed there.`);
      await removeRule(client, { ...where, scope, effect: found.effect, rule: found.rule });
      return note(`Removed: ${found.effect} ${found.rule}`);
    }
    if (!RULE_EFFECTS.some((each) => each === action) || rest === '') return note(HOW);
    const [, rule = rest, word = 'session'] = /^(.*\S)\s+(session|project|person)$/s.exec(rest) ?? [];
    const scope = WRITABLE_SCOPES.find((each) => each === word) ?? 'session';
    await addRule(client, { ...where, scope, effect: effectIn(action), rule });
    return note(`From now on, ${scope === 'person' ? 'everywhere' : `in this ${scope}`}: ${action} ${rule}`);
  };
}
