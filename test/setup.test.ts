import { describe, expect, it } from 'vitest';
import { checkNode, outputsExist } from '../scripts/setup.mjs';

describe('the Node version check', () => {
  it.each(['18.20.4', '20.18.3', '20.9.0'])('refuses Node %s and says what to do', (version) => {
    expect(() => checkNode(version)).toThrow(/needs Node 20\.19 or newer.*\n.*Install a newer Node/);
  });

  it.each(['20.19.0', '20.20.2', '22.0.0', '24.11.1'])('accepts Node %s', (version) => {
    expect(() => checkNode(version)).not.toThrow();
  });
});

describe('what a build leaves', () => {
  it('is there after a build, so that the next start does not build again', () => {
    expect(outputsExist()).toBe(true);
  });
});
