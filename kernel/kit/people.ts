/** Users, identities and tokens. */

export { expiresSoon } from "../vocabulary/token-words.ts";
export {
  Account,
  Identity,
  InvitationInfo,
  identityOf,
  isIdentity,
  NewToken,
  OPERATOR,
  SessionInfo,
  TokenInfo,
  User,
} from "../vocabulary/user.ts";
