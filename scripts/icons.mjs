/**
 * `node scripts/icons.mjs` draws the pictures of the app from its icon: browsers want PNG in some sizes, phones one that may be
 * cut into any shape, and one without transparency. Run it when the icon has changed, and commit what it makes.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { launchChromium } from './browser.mjs';
import { ROOT, runMain } from './process.mjs';

const FOLDER = path.join(ROOT, 'packages', 'web', 'public');
const GROUND = '#0f6e66';
/** Of a picture that may be cut, the middle four fifths are always seen (W3C manifest, 5.6.4). */
const SAFE_SHARE = 0.8;

const PICTURES = [
  { file: 'icon-192.png', size: 192 },
  { file: 'icon-512.png', size: 512 },
  { file: 'maskable.png', size: 512, share: SAFE_SHARE },
  { file: 'apple-icon.png', size: 180, share: 1 },
];

async function main() {
  const icon = readFileSync(path.join(FOLDER, 'icon.svg'), 'utf8');
  const browser = await launchChromium();
  for (const { file, size, share } of PICTURES) {
    const page = await browser.newPage({ viewport: { width: size, height: size } });
    const ground = share === undefined ? 'transparent' : GROUND;
    await page.setContent(
      `<style>body{margin:0;display:grid;place-items:center;height:100vh;background:${ground}}svg{width:${100 * (share ?? 1)}%}</style>${icon}`,
    );
    await page.screenshot({ path: path.join(FOLDER, file), omitBackground: share === undefined });
    await page.close();
  }
  await browser.close();
}

await runMain(main);
