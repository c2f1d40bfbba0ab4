/** What a test sees of the terminal at the side, and how it types into it. */
import type { Page } from 'playwright-core';

export function screenOf(page: Page) {
  const screen = page.locator('.terminal-screen');
  return {
    text: () => screen.locator('.xterm-rows').innerText(),
    type: async (keys: string) => {
      await screen.locator('textarea').focus();
      await page.keyboard.type(keys);
      await page.keyboard.press('Enter');
    },
    columns: () => page.locator('.terminal-bar [role=status]').innerText(),
  };
}
