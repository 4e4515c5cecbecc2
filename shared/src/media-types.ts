/** The media type of NDJSON: a record a line. */
export const NDJSON_TYPE = 'application/x-ndjson';
