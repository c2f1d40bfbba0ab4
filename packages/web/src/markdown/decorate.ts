/**
 * Does what HTML alone cannot do in an answer: draws formulas, opens files by their names, reads local pictures through
 * the host,
 * finds footnotes. What fails stays as text.
 */
import { fileReferenceUri, readFileReference } from '@atrium/protocol/ahp-1';
import { type MouseEvent, type RefObject, useLayoutEffect, useRef } from 'react';
import { openFile } from '../files/open-file.js';
import { useHost, useSessionIfAny } from '../host/context.js';
import type { OpenSession } from '../host/open-session.js';
import { folderOf } from '../model/sessions.js';
import { LocalImages } from './local-images.js';
import { FOOTNOTE, MATH_MAX_CHARACTERS } from './syntax.js';

/** The time for all formulas of one block; the remaining ones stay as text. */
const FORMULAS_MS = 300;

/** Returns the ref for the element with this HTML. */
export function useDecorated<T extends HTMLElement>(html: string): RefObject<T | null> {
  const ref = useRef<T>(null);
  const { client } = useHost();
  const session = useSessionIfAny();
  // biome-ignore lint/correctness/useExhaustiveDependencies: other HTML has to be decorated again
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return;
    drawFormulas(box);
    if (session) linkFiles(box, session);
    const images = session && new LocalImages(client, folderOf(session.state));
    images?.show(box);
    return () => images?.close();
  }, [html, session, client]);
  return ref;
}

type Formulas = typeof import('./formulas.js');

let formulas: Formulas | undefined;
let loading: Promise<Formulas> | undefined;

function drawFormulas(box: HTMLElement): void {
  const found = [...box.querySelectorAll<HTMLElement>('[data-math]')];
  if (found.length === 0) return;
  if (formulas) return drawAll(found, formulas);
  loading ??= import('./formulas.js');
  loading.then(
    (loaded) => {
      formulas = loaded;
      drawAll(found, loaded);
    },
    () => {
      loading = undefined;
    },
  );
}

function drawAll(elements: readonly HTMLElement[], { drawFormula }: Formulas): void {
  const end = performance.now() + FORMULAS_MS;
  for (const element of elements) {
    const tex = element.textContent;
    if (performance.now() > end) return;
    if (tex.length <= MATH_MAX_CHARACTERS) drawFormula(element, tex, element.dataset.math === 'block');
  }
}

function linkFiles(box: HTMLElement, session: OpenSession): void {
  for (const element of box.querySelectorAll<HTMLElement>('[data-file]')) {
    const place = readFileReference(element.dataset.file ?? '');
    const uri = place && fileReferenceUri(place.path, folderOf(session.state));
    if (uri === undefined) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'file-link';
    button.title = `Open ${element.dataset.file}`;
    button.append(...element.childNodes);
    button.addEventListener('click', () => openFile({ session: session.uri, uri, ...place }));
    element.replaceWith(button);
  }
}

/** Finds a footnote in the same text, without changing the address of the page. */
export function followFootnote(event: MouseEvent<HTMLElement>): void {
  const link = event.target instanceof Element ? event.target.closest(`a[href^="${FOOTNOTE}"]`) : null;
  const name = link?.getAttribute('href')?.slice(FOOTNOTE.length);
  if (name === undefined) return;
  event.preventDefault();
  const [, id] = /^back-(.*)$/.exec(name) ?? [];
  const wanted =
    id === undefined ? `[data-footnote="${name}"] a[href^="${FOOTNOTE}back-"]` : `a[href="${FOOTNOTE}${id}"]`;
  const target = event.currentTarget.querySelector<HTMLElement>(wanted);
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
}
