/** What the protocol asks of a user interface. */
import type { ToolCallPendingConfirmationState } from '@atrium/protocol/ahp-1';
import { expect, it } from 'vitest';
import { describeInBrowser, POLL } from './support/browser.js';
import { begun, puppetSession, said, startPuppetHost } from './support/puppet-host.js';

const CALL: ToolCallPendingConfirmationState = {
  status: 'pending-confirmation',
  toolCallId: 'c1',
  toolName: 'deploy',
  displayName: 'Deploy',
  invocationMessage: 'Deploy it',
  options: [
    { id: 'once', label: 'This time', kind: 'approve' },
    { id: 'never', label: 'Never again', kind: 'deny' },
  ],
};

describeInBrowser('duties of a user interface', (open) => {
  it.each([
    ['This time', { approved: true, selectedOptionId: 'once' }],
    ['Never again', { approved: false, selectedOptionId: 'never' }],
  ])('[CLI-028] renders options instead of approve and deny, and sends "%s" with its id', async (label, expected) => {
    const activeTurn = begun([{ kind: 'toolCall', toolCall: CALL }]);
    const host = await startPuppetHost({ session: puppetSession({ status: 24 }, { activeTurn }) });
    const page = await open(host.link);
    const question = page.getByRole('group', { name: 'Permission' });
    await question.waitFor();
    expect(await question.getByRole('button').allInnerTexts()).toEqual([
      'This time',
      'Never again',
      'Deny with advice',
    ]);
    await question.getByRole('button', { name: label }).click();
    await expect
      .poll(() => actions(host.ofMethod('dispatchAction')), POLL)
      .toContainEqual(expect.objectContaining({ type: 'chat/toolCallConfirmed', toolCallId: 'c1', ...expected }));
  });

  it('shows what would run, also where a host says that no file changes', async () => {
    const toolCall = { ...CALL, toolInput: '{"target":"production"}', edits: { items: [] } };
    const activeTurn = begun([{ kind: 'toolCall', toolCall }]);
    const host = await startPuppetHost({ session: puppetSession({ status: 24 }, { activeTurn }) });
    const page = await open(host.link);
    await page.locator('.tool-input', { hasText: 'production' }).waitFor();
  });

  it('[CLI-027] gives the attachment of a completion back with its _meta', async () => {
    const attachment = { type: 'simple', label: 'main.ts', _meta: { ticket: { deep: [1, 2] } } };
    const answer = (method: string) =>
      method === 'completions'
        ? { items: [{ insertText: '#main.ts', rangeStart: 0, rangeEnd: 2, attachment }] }
        : undefined;
    const host = await startPuppetHost({ session: puppetSession({}), answer });
    const page = await open(host.link);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('#m');
    await page.getByRole('listbox', { name: 'Completions' }).waitFor();
    await field.press('Enter');
    expect(await field.inputValue()).toBe('#main.ts');
    await field.press('Enter');
    await expect
      .poll(() => actions(host.ofMethod('dispatchAction')), POLL)
      .toContainEqual(
        expect.objectContaining({
          type: 'chat/turnStarted',
          message: { ...said('#main.ts'), attachments: [attachment] },
        }),
      );
  });

  it('[CLI-022] looks again when somebody else was faster, shows it, and writes only what a person chose', async () => {
    const { host, file } = await startRuleHost();
    const page = await open(host.link);
    await page.getByText('1 entry').click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const content = page.getByRole('textbox', { name: 'Content' });
    await content.fill('Be brief.');
    Object.assign(file, { text: 'Be funny.', etag: 'v2' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody changed this file').waitFor();
    expect(host.ofMethod('resourceWrite')).toHaveLength(1);
    expect(host.ofMethod('resourceResolve')).toHaveLength(2);
    expect(file.text).toBe('Be funny.');
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByText('tone is saved.').waitFor();
    expect(file).toEqual({ text: 'Be brief.', etag: 'v2+' });
  });

  it('keeps what was written in a customization and not saved, until it is saved or undone', async () => {
    const { host } = await startRuleHost();
    const page = await open(host.link);
    await page.getByText('1 entry').click();
    const edit = page.getByRole('button', { name: 'Edit', exact: true });
    await edit.click();
    const content = page.getByRole('textbox', { name: 'Content' });
    await content.fill('Be brief.');
    await page.keyboard.press('Escape');
    await content.waitFor({ state: 'detached' });
    await edit.click();
    expect(await content.inputValue()).toBe('Be brief.');
    await page.getByRole('button', { name: 'Undo all' }).click();
    await expect.poll(() => content.inputValue(), POLL).toBe('Be kind.');
  });
});

function actions(asked: readonly { readonly params: Readonly<Record<string, unknown>> }[]): unknown[] {
  return asked.map(({ params }) => params.action);
}

/** A host with one rule that may be written, and the file that it is in. */
async function startRuleHost() {
  const uri = 'file:///home/me/.agents/rules/tone.md';
  const file = { text: 'Be kind.', etag: 'v1' };
  const customizations = [
    {
      type: 'directory' as const,
      id: 'rules',
      uri: 'file:///home/me/.agents/rules',
      name: 'rules',
      enabled: true,
      contents: 'rule' as const,
      writable: true,
      children: [{ type: 'rule' as const, id: 'tone', uri, name: 'tone' }],
    },
  ];
  const answer = (method: string, { ifMatch, data }: Readonly<Record<string, unknown>>) => {
    if (method === 'resourceResolve') return { uri, type: 'file', etag: file.etag };
    if (method === 'resourceRead') return { data: file.text, encoding: 'utf-8' };
    if (method !== 'resourceWrite') return undefined;
    if (ifMatch !== file.etag) throw Object.assign(new Error('changed meanwhile'), { code: -32011 });
    Object.assign(file, { text: data, etag: `${file.etag}+` });
    return {};
  };
  const host = await startPuppetHost({ session: puppetSession({ customizations }), answer });
  return { host, file };
}
