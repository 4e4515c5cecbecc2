/**
 * The id of the run or execution that an accepted request has become, as `GET /v1/traces/{id}`
 * takes it.
 */
export const RUN_HEADER = 'x-headwater-run';
