/** What of others is in the package: their licences, and a bill of materials (CycloneDX). */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Problem, ROOT, readJson } from './process.mjs';

/** @typedef {{ name: string, version: string, license: string, folder?: string }} ThirdParty */

/** The packages that these files belong to, by name. @param {readonly string[]} files @returns {ThirdParty[]} */
export function bundledPackages(files) {
  const folders = new Set(files.map(packageFolderOf).filter((folder) => folder !== undefined));
  const packages = [...folders].map(described);
  // A package may be there several times, in folders of those that need it.
  return [...new Map(packages.map((each) => [`${each.name} ${each.version}`, each])).values()].sort(byName);
}

/** The folder of the package that a file is in. @param {string} file */
function packageFolderOf(file) {
  // Some are virtual, as `\0…/index.js?commonjs`.
  const [, folder] = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  return folder;
}

/** @param {string} folder @returns {ThirdParty} */
function described(folder) {
  const { name, version, license } = readJson(path.join(folder, 'package.json'));
  if (typeof license !== 'string') throw new Problem(`${folder}: the package does not name its licence.`);
  return { name, version, license, folder };
}

/**
 * What npm installs for these packages: themselves, and what they need, on any platform.
 * @param {readonly string[]} names @returns {ThirdParty[]}
 */
export function lockedPackages(names) {
  const { packages } = readJson(path.join(ROOT, 'package-lock.json'));
  /** @type {Map<string, ThirdParty>} */
  const found = new Map();
  const add = (/** @type {string} */ name) => {
    if (found.has(name)) return;
    const { version, license, dependencies, optionalDependencies } = packages[`node_modules/${name}`];
    found.set(name, { name, version, license });
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) add(needed);
  };
  for (const name of names) add(name);
  return [...found.values()].sort(byName);
}

/** @param {ThirdParty} a @param {ThirdParty} b */
function byName(a, b) {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1;
}

/** The licences of all packages whose code is in ours, as they ask for. @param {readonly ThirdParty[]} packages */
export function notices(packages) {
  const head = `Atrium contains code of these ${packages.length} packages. Each is followed by its licence.\n`;
  const parts = packages.map((each) => {
    const title = `${each.name} ${each.version} (${each.license})`;
    return `${'='.repeat(title.length)}\n${title}\n${'='.repeat(title.length)}\n\n${licenceText(each)}\n`;
  });
  return [head, ...parts, apacheText(packages)].join('\n');
}

/** Packages under this licence usually only refer to it, and who passes them on has to pass it on, too. @param {readonly ThirdParty[]} packages */
function apacheText(packages) {
  if (!packages.some(({ license }) => license.includes('Apache-2.0'))) return '';
  return readFileSync(path.join(ROOT, 'scripts', 'package', 'Apache-2.0.txt'), 'utf8');
}

/** @param {ThirdParty} package */
function licenceText({ name, license, folder = '' }) {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)([.-]|$)/i.test(file));
  if (files.length > 0)
    return files
      .sort()
      .map((file) => readFileSync(path.join(folder, file), 'utf8').trim())
      .join('\n\n');
  const readme = path.join(folder, 'README.md');
  const [section] = existsSync(readme) ? (/^#+ licen[cs]e\s[\s\S]*$/im.exec(readFileSync(readme, 'utf8')) ?? []) : [];
  if (section) return section.trim();
  const { author, repository } = readJson(path.join(folder, 'package.json'));
  const maker = typeof author === 'string' ? author : (author?.name ?? repository?.url ?? repository ?? name);
  return `The package has no text of its licence, ${license}, in it. It is from ${maker}.`;
}

/**
 * @param {{ manifest: { name: string, version: string, license: string }, bundled: readonly ThirdParty[],
 *   installed: readonly ThirdParty[] }} parts `bundled` is in the package, npm installs `installed` with it
 */
export function billOfMaterials({ manifest, bundled, installed }) {
  const own = component(manifest);
  const components = [
    ...bundled.map((each) => ({ ...component(each), properties: [{ name: 'atrium:bundled', value: 'true' }] })),
    ...installed.map(component),
  ];
  const needs = { ref: own['bom-ref'], dependsOn: components.map((each) => each['bom-ref']) };
  return {
    ...{ bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber: serialNumber([own, ...components]), version: 1 },
    metadata: { component: { ...own, type: 'application' } },
    ...{ components, dependencies: [needs] },
  };
}

/** @param {ThirdParty} package */
function component({ name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  // SPDX has names for licences, and expressions of several.
  const licenses = /[ ()]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
  return { type: 'library', 'bom-ref': purl, name, version, purl, licenses };
}

/** The same parts have the same number: a package can be built again and compared. @param {unknown} parts */
function serialNumber(parts) {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4];
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
