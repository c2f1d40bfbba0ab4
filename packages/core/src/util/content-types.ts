/** What a content is: found from its bytes. What it is called only counts where the bytes do not tell. */
import { isUtf8 } from 'node:buffer';
import { type Picture, pictureOf, typeOfBeginning } from '@atrium/protocol/ahp-1';

const BINARY_TYPE = 'application/octet-stream';
const TEXT_TYPE = 'text/plain';
const TYPE_MAX_CHARACTERS = 100;
/** Types whose contents are text, so that they may be called so. */
const TEXTUAL =
  /^(?:text\/[\w.+-]+|image\/svg\+xml|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|toml|javascript|typescript|sql|x-sh))$/;
const WELL_FORMED = /^[\w.+-]+\/[\w.+-]+$/;

export interface ContentFacts {
  readonly contentType: string;
  /** Absent unless it is a picture that can be shown. */
  readonly picture?: Picture;
  readonly isText: boolean;
}

/** `claimed`: what somebody says that it is. */
export function contentFacts(bytes: Uint8Array, claimed?: string): ContentFacts {
  const picture = pictureOf(bytes);
  if (picture) return { contentType: picture.contentType, picture, isText: false };
  const isText = isUtf8(bytes) && !bytes.includes(0);
  const said = claimed !== undefined && claimed.length <= TYPE_MAX_CHARACTERS ? claimed.toLowerCase() : '';
  if (isText) return { contentType: TEXTUAL.test(said) ? said : TEXT_TYPE, isText };
  const known = typeOfBeginning(bytes);
  // What begins like a picture and has no size is none.
  const found = known === undefined || SHOWN.test(known) ? undefined : known;
  const isFree = WELL_FORMED.test(said) && !said.startsWith('image/') && !TEXTUAL.test(said);
  return { contentType: found ?? (isFree ? said : BINARY_TYPE), isText };
}

const SHOWN = /^image\/(?:png|jpeg|gif|webp)$/;
