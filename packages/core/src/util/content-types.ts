/** The type of a content, found from its bytes. A claimed type counts only if the bytes do not decide. */
import { isUtf8 } from 'node:buffer';
import { type Picture, pictureOf, typeOfBeginning } from '@atrium/protocol/ahp-1';

const BINARY_TYPE = 'application/octet-stream';
const TEXT_TYPE = 'text/plain';
const TYPE_MAX_CHARACTERS = 100;
/** Types of text, which therefore may only be claimed for text. */
const TEXTUAL =
  /^(?:text\/[\w.+-]+|image\/svg\+xml|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|toml|javascript|typescript|sql|x-sh))$/;
const WELL_FORMED = /^[\w.+-]+\/[\w.+-]+$/;

export interface ContentFacts {
  readonly contentType: string;
  /** Set for a picture that can be shown. */
  readonly picture?: Picture;
  readonly isText: boolean;
}

/** Examines bytes. `claimed` is the type that someone gave. */
export function contentFacts(bytes: Uint8Array, claimed?: string): ContentFacts {
  const picture = pictureOf(bytes);
  if (picture) return { contentType: picture.contentType, picture, isText: false };
  const isText = isUtf8(bytes) && !bytes.includes(0);
  const claimedType = claimed !== undefined && claimed.length <= TYPE_MAX_CHARACTERS ? claimed.toLowerCase() : '';
  if (isText) return { contentType: TEXTUAL.test(claimedType) ? claimedType : TEXT_TYPE, isText };
  const known = typeOfBeginning(bytes);
  // Bytes that begin like a picture but have no size are not a picture.
  const found = known === undefined || SHOWN.test(known) ? undefined : known;
  const isFree = WELL_FORMED.test(claimedType) && !claimedType.startsWith('image/') && !TEXTUAL.test(claimedType);
  return { contentType: found ?? (isFree ? claimedType : BINARY_TYPE), isText };
}

const SHOWN = /^image\/(?:png|jpeg|gif|webp)$/;
