import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { decodeBody } from '@headwater/engine';
import { isLongJson, isShortJson, LIMITS } from '@headwater/shared';
import { bodyTooLarge } from '../parameters/read-body.ts';
import {
  charsetByMark,
  type Charset,
  declaredCharset,
  hidesInAscii,
  markedCharset,
  UTF8,
  withoutMark,
} from './charset.ts';
import { formJson } from './form-pairs.ts';
import { countUpTo, multipartJson } from './multipart.ts';

/** JSON texts of an event's `bodyRaw` and `body`. */
export interface EventBody {
  rawJson: string;
  bodyJson: string;
  /** `bodyRaw` is the base64 of the bytes. */
  isBase64: boolean;
}

interface Body {
  /** Bytes as received; `bodyRaw` returns exactly these. */
  sent: Buffer;
  /** The same without its content coding. */
  plain: Buffer;
  contentType: string;
  mediaType: string;
}

/**
 * `bodyRaw` is text only where the UTF-8 bytes of that text are the bytes that were sent, else
 * base64: signatures are made over bytes. `body` is read from the bytes, in the charset that they
 * are in. Throws PAYLOAD_TOO_LARGE for a compressed body that becomes larger than
 * LIMITS.maxHttpBodyBytes.
 */
export function eventBody(headers: IncomingHttpHeaders, sent: Buffer): EventBody | Promise<EventBody> {
  const contentType = headers['content-type'] ?? '';
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const body = { sent, plain: sent, contentType, mediaType };
  return isCoded(headers) ? decoded(body, headers['content-encoding'] ?? '') : present(body);
}

export function isCoded({ 'content-encoding': coding = '' }: IncomingHttpHeaders): boolean {
  return coding !== '' && coding.toLowerCase() !== 'identity';
}

async function decoded(body: Body, coding: string): Promise<EventBody> {
  const result = await decodeBody(body.sent, coding, LIMITS.maxHttpBodyBytes, 'whole');
  if (result.kind === 'too-large') throw bodyTooLarge(LIMITS.maxHttpBodyBytes);
  // Proxies decode bodies and leave the header in place, and some senders write a charset there.
  return present(result.kind === 'decoded' ? { ...body, plain: result.body } : body);
}

function present(body: Body): EventBody | Promise<EventBody> {
  if (isJsonType(body.mediaType)) return presentJson(body);
  if (body.mediaType === 'application/x-www-form-urlencoded') return presentForm(body);
  if (body.mediaType === 'multipart/form-data') return presentMultipart(body);
  return presentText(body);
}

function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json') || mediaType === 'text/json';
}

/**
 * The body as JSON. If it is invalid, the component gets the text as a string and handles the
 * sender's mistake.
 */
function presentJson(body: Body): EventBody | Promise<EventBody> {
  const { raw, text } = textsOf(body, charsetOfJson(body));
  const json = withoutMark(text);
  const finish = (isJson: boolean) => ({ ...raw, bodyJson: isJson ? json : textJson(raw, text) });
  const isShort = isShortJson(json);
  return isShort === undefined ? isLongJson(json).then(finish) : finish(isShort);
}

/**
 * RFC 8259: JSON is UTF-8, and senders that name another charset by default send UTF-8 all the
 * same.
 */
function charsetOfJson({ plain, contentType }: Body): Charset {
  const declared = declaredCharset(contentType);
  if (declared !== undefined && hidesInAscii(declared)) return charsetByMark(plain, declared) ?? declared;
  if (isUtf8(plain)) return UTF8;
  return markedCharset(plain) ?? declared ?? UTF8;
}

function presentForm(body: Body): EventBody {
  const { sent, plain, contentType } = body;
  if (countUpTo(plain, '&', LIMITS.maxFormFields) === LIMITS.maxFormFields) return presentText(body);
  const charset = charsetByMark(plain, declaredCharset(contentType));
  return { ...rawOf(sent, charset ?? UTF8), bodyJson: formJson(plain, charset) };
}

function presentMultipart(body: Body): EventBody {
  const bodyJson = multipartJson(body.contentType, body.plain);
  return bodyJson === undefined ? presentText(body) : { ...rawOf(body.sent, UTF8), bodyJson };
}

const TEXT_TYPE = /^text\/|[/+]xml$|^application\/(x-www-form-urlencoded|x-ndjson|javascript|graphql|sql)$/;

/**
 * A body that is text neither by its type, nor by its charset, nor by its bytes is base64 in `body`
 * as well.
 */
function presentText(body: Body): EventBody {
  const { sent, plain, contentType, mediaType } = body;
  const isText = TEXT_TYPE.test(mediaType);
  const declared = declaredCharset(contentType);
  if (!isText && declared === undefined && !isUtf8(plain)) {
    return { ...rawOf(sent, UTF8), bodyJson: base64Json(plain) };
  }
  const charset = (isText ? markedCharset(plain) : charsetByMark(plain, declared)) ?? declared ?? UTF8;
  const { raw, text } = textsOf(body, charset);
  return { ...raw, bodyJson: textJson(raw, hidesInAscii(charset) ? withoutMark(text) : text) };
}

interface Raw extends Pick<EventBody, 'rawJson' | 'isBase64'> {
  /** Absent for base64. */
  text?: string;
}

function rawOf(sent: Buffer, charset: Charset): Raw {
  if (!isUtf8(sent) || hidesInAscii(charset)) return { rawJson: base64Json(sent), isBase64: true };
  const text = sent.toString('utf8');
  return { rawJson: JSON.stringify(text), text, isBase64: false };
}

/**
 * `text`: the body in its charset. It is decoded only once if it equals `bodyRaw`, the usual case.
 */
function textsOf({ sent, plain }: Body, charset: Charset): { raw: Raw; text: string } {
  const raw = rawOf(sent, charset);
  const isSame = sent === plain && charset === UTF8 && raw.text !== undefined;
  return { raw, text: isSame ? (raw.text as string) : charset.decode(plain) };
}

/** A long text is made into JSON once. */
function textJson({ rawJson, text }: Raw, wanted: string): string {
  return text === wanted ? rawJson : JSON.stringify(wanted);
}

function base64Json(bytes: Buffer): string {
  return `"${bytes.toString('base64')}"`;
}
