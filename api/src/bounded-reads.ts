import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createPauses } from '@headwater/shared';

/** Bytes parsed at once. As small pieces of a chunked body they take a third of a millisecond. */
const GULP_BYTES = 2 * 1024;
const MAX_PIECES_OF_GULP = 340;
/** After this many pieces in one turn, a connection yields to others. */
const MAX_PIECES_PER_TURN = 512;
/**
 * Unread bytes of a chunked body that the server holds besides one gulp. Each piece is an object of
 * half a kilobyte.
 */
const MAX_UNREAD_BYTES = 512;

export interface BoundedReads {
  /** A request has come over its connection, and its body, if any, is what comes next. */
  began(request: IncomingMessage, response: ServerResponse): void;
}

interface Intake {
  /** Until it is answered. */
  request: IncomingMessage | undefined;
  /** The request's body is chunked. */
  isInChunks: boolean;
  /** Bytes still to come of a body with an announced length; 0 after counting has stopped. */
  bodyLeft: number;
  /** Pieces of chunked bodies in this turn. */
  pieces: number;
}

type Parse = (bytes: Buffer) => void;

/**
 * Limits how much of a connection Node parses at once. Node reads 64 KB at a time. In a body with
 * one-byte chunks that is ten thousand pieces, which block the thread for ten milliseconds. If the
 * server stops reading, Node still buffers as many bytes as of any other body. In one-byte pieces,
 * these take fifty megabytes. So the parser gets small portions, and none while pieces are unread.
 * A body with an announced length is one piece per read, so only the bytes behind it are limited.
 */
export function boundReads(server: Server): BoundedReads {
  const intakes = new WeakMap<Socket, Intake>();
  const giveWay = createPauses()(0);
  server.on('connection', (socket: Socket) => {
    const intake: Intake = { request: undefined, isInChunks: false, bodyLeft: 0, pieces: 0 };
    intakes.set(socket, intake);
    // The server's own, for connections that it cannot read natively. That there is one of ours
    // makes it treat this as such.
    const [parse] = socket.listeners('data') as Parse[];
    if (parse === undefined) return;
    socket.off('data', parse);
    socket.on('data', gulpsOf(socket, intake, parse, giveWay));
  });
  return {
    began(request, response) {
      const intake = intakes.get(request.socket);
      if (intake === undefined) return;
      intake.request = request;
      intake.isInChunks = request.headers['transfer-encoding'] !== undefined;
      intake.bodyLeft = intake.isInChunks ? 0 : Number(request.headers['content-length'] ?? 0);
      // A connection may stay idle for long, and headers take kilobytes. Node drops the rest of the
      // body unread.
      response.once('close', () => {
        if (intake.request === request) Object.assign(intake, { request: undefined, bodyLeft: 0 });
      });
      if (intake.isInChunks || intake.bodyLeft > 0) countPieces(request, intake);
    },
  };
}

function gulpsOf(socket: Socket, intake: Intake, parse: Parse, giveWay: () => Promise<void>): Parse {
  let isResting = false;

  const putBack = (bytes: Buffer) => {
    socket.pause();
    socket.unshift(bytes);
  };
  const goOn = () => {
    isResting = false;
    socket.resume();
  };
  const mustRest = () => {
    const { request, isInChunks, pieces } = intake;
    if (isInChunks && request !== undefined && request.readableLength > MAX_UNREAD_BYTES) request.once('resume', goOn);
    else if (pieces >= MAX_PIECES_PER_TURN) void giveWay().then(goOn);
    else return false;
    return true;
  };

  return (bytes) => {
    intake.pieces = 0;
    for (let left = bytes; left.length > 0 && !socket.destroyed; ) {
      // Paused: node wants no more requests for now, and lets the connection go on itself; it must
      // not be given any before.
      if (socket.isPaused()) return putBack(left);
      // Resting: node lets it go on as well, whenever it wants more of a body.
      isResting ||= mustRest();
      if (isResting) return putBack(left);
      const gulp = left.subarray(0, Math.max(GULP_BYTES, intake.bodyLeft));
      left = left.subarray(gulp.length);
      const { pieces } = intake;
      parse(gulp);
      // Node passes on no piece of a body that it drops, so a full gulp is counted.
      if (intake.isInChunks && intake.pieces === pieces) intake.pieces += MAX_PIECES_OF_GULP;
    }
  };
}

/** Node's parser calls `push` for each piece, whether or not code reads the body. */
function countPieces(request: IncomingMessage, intake: Intake): void {
  const push = request.push.bind(request);
  request.push = (piece: Buffer | null, encoding?: BufferEncoding) => {
    if (intake.request === request) intake.bodyLeft = Math.max(0, intake.bodyLeft - (piece?.length ?? 0));
    if (intake.isInChunks) intake.pieces++;
    return push(piece, encoding);
  };
}
