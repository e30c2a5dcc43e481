/** Whether the person asked for this kind of action: what they pointed to, they pointed to for something. */
import { foldedWords, stem, wordsOfName } from "../../../kernel/kit.ts";
import type { Said } from "../said.ts";

/** The verb of a tool, then what people say for it, also in German, French, Spanish and Italian. */
const ALIKE = [
  "delete remove erase trash discard drop lösche löschen entferne entfernen supprime supprimer efface effacer borra borrar elimina eliminar eliminare cancella cancellare",
  "remove delete erase drop kick entferne entfernen lösche löschen supprime supprimer retire quita quitar elimina eliminar rimuovi rimuovere",
  "cancel delete remove drop storniere stornieren absagen sage annule annuler cancela cancelar anula annulla annullare",
  "add append include insert put attach invite hinzufügen füge ergänze ajoute ajouter añade añadir agrega aggiungi aggiungere",
  "append add write put include copy kopiere copie copia füge ergänze schreibe ajoute añade aggiungi",
  "create make new add set write start open save copy kopiere copie copia erstelle erstellen anlegen lege schreibe crée créer crea crear creare",
  "share give send teile teilen partage partager comparte compartir condividi condividere",
  "update change adjust edit modify set correct move raise increase ändere ändern aktualisiere modifie modifier cambia cambiar actualiza aggiorna modifica",
  "edit change update adjust modify ändere ändern bearbeite modifie modifier edita cambia modifica",
  "reschedule move shift change postpone verschiebe verschieben verlege déplace déplacer reporte aplaza mueve sposta spostare",
  "move reschedule shift put verschiebe verschieben déplace mueve sposta",
  "send write email mail message post reply forward tell pay transfer invite sende senden schicke schicken schick schreibe überweise überweisen envoie envoyer écris envía enviar manda invia inviare",
  "transfer send pay move überweise überweisen vire virer transfiere transferir paga",
  "reply answer respond write send antworte antworten réponds répondre responde responder rispondi rispondere",
  "forward send share weiterleiten leite transfère transférer reenvía inoltra",
  "post publish write send share poste veröffentliche publie publier publica publicar pubblica",
  "publish post share veröffentliche publie publica pubblica",
  "reserve book make reserviere reservieren buche buchen réserve réserver reserva reservar prenota prenotare",
  "book reserve buche buchen reserviere réserve reserva prenota",
  "pay send transfer refund settle bezahle bezahlen zahle zahlen überweise paie payer paga pagar pagare",
  "schedule set plan book pay send create plane planen planifie programma programa",
  "invite add lade einladen invite inviter invita invitar invitare",
  "rename name change umbenennen benenne renomme renombra rinomina",
  "close end finish schließe schliesse ferme cierra chiudi",
  "archive store keep archiviere archive archiva archivia",
  "save keep store write note remember copy kopiere copie copia speichere speichern sauvegarde enregistre guarda guardar salva salvare",
  "write save put note copy kopiere copie copia schreibe schreiben écris écrire escribe escribir scrivi scrivere",
  "set change make setze stelle mets pon imposta",
  "upload put send lade hochladen téléverse sube carica",
  "order buy purchase bestelle kaufe commande achète pide compra ordina",
  "buy order purchase kaufe bestelle achète compra",
  "merge join zusammenführen fusionne fusiona unisci",
  "approve accept allow genehmige approuve aprueba approva",
  "accept approve take annehmen accepte acepta accetta",
  "decline reject refuse ablehnen refuse rechaza rifiuta",
  "reject decline refuse ablehnen refuse rechaza rifiuta",
  "assign give zuweisen assigne asigna assegna",
  "complete finish close tick done erledige termine completa",
  "ban block exclude sperre sperren bannis bloquea blocca",
  "block ban sperre sperren bloque bloquea blocca",
  "mute silence stumm muet silencia",
  "lock sperre verriegle verrouille cierra chiudi",
  "unlock open entsperre öffne déverrouille abre apri",
  "enable activate aktiviere active activa attiva",
  "disable deactivate deaktiviere désactive desactiva disattiva",
  "start begin launch starte démarre inicia avvia",
  "stop end halt stoppe arrête para ferma",
  "restart reboot neustart redémarre reinicia riavvia",
  "run execute start führe exécute ejecuta esegui",
  "execute run führe exécute ejecuta esegui",
  "deploy release publish ausrollen déploie despliega",
  "submit send file einreichen soumets envía invia",
  "subscribe join abonniere abonne suscribe iscrivi",
  "unsubscribe leave abbestelle désabonne cancela disiscrivi",
  "grant give allow gewähre accorde concede",
  "revoke withdraw widerrufe révoque revoca",
  "reset zurücksetzen réinitialise restablece ripristina",
  "restore recover undelete wiederherstellen restaure restaura ripristina",
  "clear empty leere vide vacía svuota",
  "empty clear leere leeren vide vider vacía svuota",
  "pin anheften épingle fija fissa",
  "print drucke imprime stampa",
  "install installiere installe instala installa",
  "uninstall remove deinstalliere désinstalle desinstala disinstalla",
].map((line) => line.split(" ").flatMap(foldedWords).map(stem));
const VERBS = new Map(ALIKE.map((line) => [line[0] ?? "", new Set(line)] as const));

/** There are few tools, and many answers of each. */
function rememberingNames<Value>(make: (tool: string, owner: string) => Value) {
  const known = new Map<string, Value>();
  return (tool: string, owner: string): Value => {
    const key = `${tool}\n${owner}`;
    const found = known.get(key) ?? make(tool, owner);
    if (known.size > MOST_NAMES) known.clear();
    known.set(key, found);
    return found;
  };
}

const MOST_NAMES = 1000;

const wantedBy = (said: Said) => {
  const known = STEMS.get(said) ?? new Set([...said.asked].map(stem));
  STEMS.set(said, known);
  return known;
};
const STEMS = new WeakMap<Said, ReadonlySet<string>>();

/** The words of a tool's name, without those of the server that it is of. */
const ownWords = rememberingNames((tool, owner) => {
  const words = wordsOfName(tool).map(stem);
  const server = wordsOfName(owner.replace(/^(?:server|tool|hosts) /, "")).map(stem);
  const isOfServer = server.length < words.length && server.every((word, at) => word === words[at]);
  return isOfServer ? words.slice(server.length) : words;
});

export function isAskedFor(
  { name, owner }: { readonly name: string; readonly owner: string },
  said: Said,
): boolean {
  const wanted = wantedBy(said);
  const words = ownWords(name, owner);
  if (words.some((word) => MONEY.has(word)) && PAYS.isDisjointFrom(wanted) && !said.hasPrice) return false;
  const verbs = words.flatMap((word) => VERBS.get(word) ?? []);
  if (verbs.length > 0) return verbs.some((alike) => !alike.isDisjointFrom(wanted));
  // Which of its words says what it does is not known: "show me the user" asks for no `ban_user`.
  const telling = words.filter((word) => !SMALL.has(word));
  return telling.length > 0 && telling.every((word) => wanted.has(word));
}

/** To send a message is not to send money. */
const MONEY = stemsOf("money payment pay transaction transfer fund funds invoice refund");
const PAYS = stemsOf(
  `money pay payment transaction transfer refund rent salary settle owe buy order euro euros eur dollar dollars usd gbp chf pound pounds
  franc francs cent cents deposit bezahle bezahlen zahle zahlen zahlung überweise überweisen überweisung geld
  miete paie payer paiement virement loyer argent paga pagar pago dinero alquiler transferencia pagare soldi
  affitto bonifico`,
);

function stemsOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/).flatMap(foldedWords).map(stem));
}

const SMALL = new Set(
  "get list search find query lookup show read fetch all by to from in on of for and new id recent with my the direct most as at a an"
    .split(" ")
    .map(stem),
);

/** What a tool is about: `search_calendar_events` is about calendars and events. */
export const subjectsOf = rememberingNames(
  (tool, owner): ReadonlySet<string> =>
    new Set(ownWords(tool, owner).filter((word) => !SMALL.has(word) && !VERBS.has(word))),
);

/** True where a call without values is named by the person: `empty_trash` by "empty the trash". */
export function isNamed(
  { name, owner }: { readonly name: string; readonly owner: string },
  said: Said,
): boolean {
  const wanted = wantedBy(said);
  const subjects = [...subjectsOf(name, owner)];
  return isAskedFor({ name, owner }, said) && subjects.every((word) => wanted.has(word));
}
