package judge

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
)

// labels are lines of an article that say nothing about its subject, such as links to other pages, offers, and the
// number of comments. They are compared in the form of [chars.Fold]. Newspapers put them between paragraphs, where the
// model takes them for text.
var labels = func() map[string]bool {
	m := map[string]bool{}
	for line := range strings.SplitSeq(`Advertisement,Advertisements,Story continues below advertisement,
		Article continues below advertisement,Continue reading below,Scroll to continue,Sponsored content,
		Comments are closed,No comments,No comments yet,Be the first to comment,Like this,Share this,Read also,Also read,
		Read more,See more,Related,
		Anzeige,Werbung,Mehr zum Thema,Mehr Themen,Lesen Sie auch,Lesen Sie mehr,Das könnte Sie auch interessieren,
		Auch interessant,Weiterlesen,Keine Kommentare,Bisher keine Kommentare,
		Noch keine Kommentare,Teilen,Artikel teilen,Drucken,Publicité,Lire aussi,À lire aussi,Sur le même sujet,
		Lire la suite,Partager,Aucun commentaire,
		Publicidad,Leer más,Lea también,Te puede interesar,Compartir,Sin comentarios,Pubblicità,Leggi anche,Condividi,
		Nessun commento,
		Publicidade,Leia também,Leia mais,Compartilhe,Nenhum comentário,Reklama,Czytaj także,Zobacz także,Udostępnij,
		Brak komentarzy,
		Advertentie,Lees ook,Lees meer,Deel dit artikel,Annons,Läs också,Läs även,Annonce,Læs også,Annonse,
		Les også,Реклама,Читайте также,Поделиться,Reklam`, ",") {
		m[chars.Fold(line)] = true
	}
	return m
}()

// dropLabels drops blocks that hold only a label, which is boilerplate. It is called for articles and services;
// elsewhere such words may be a heading.
func (t *outline) dropLabels(keep []bool) {
	for i := range t.blocks {
		b := &t.blocks[i]
		if !keep[i] || b.words > 6 || b.letters > longestLabel/2 {
			continue
		}
		if labels[foldedText(b.first.Parent, longestLabel)] {
			keep[i] = false
		}
	}
}

// longestLabel is the longest label in bytes, however it is spelled. It bounds the text that is compared.
const longestLabel = 80

// foldedText returns, to find boilerplate, the text of n as [chars.Fold] does, or "" if n has more than limit bytes or
// nodes: the element around a line may be a whole page. The count of nodes bounds the time.
func foldedText(n *html.Node, limit int) string {
	var text strings.Builder
	nodes := 0
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
		if nodes++; text.Len() > limit || nodes > limit {
			return ""
		}
	}
	return chars.Fold(text.String())
}
