package charset_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	htmlcharset "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"

	"github.com/readthru/readthru/convert/charset"
)

// sentences are in the languages of the web's legacy encodings.
var sentences = []struct{ encodings, text string }{
	{"windows-1251 koi8-r iso-8859-5 ibm866", "Этот сервер хранит страницы, которые уже были прочитаны, и " +
		"отвечает на следующий запрос сам. Если страница изменилась, он спрашивает её снова."},
	{"windows-1251 koi8-u", "Цей сервер зберігає сторінки, які вже були прочитані, і відповідає на наступний запит " +
		"самостійно. Якщо сторінка змінилася, він запитує її знову."},
	{"windows-1250 iso-8859-2", "Ten serwer przechowuje strony, które już zostały przeczytane, i sam odpowiada na następne " +
		"żądanie. Jeśli strona się zmieniła, pyta o nią ponownie, więc treść zawsze jest świeża."},
	{"windows-1250 iso-8859-2", "Tento server uchovává stránky, které již byly přečteny, a na další požadavek odpovídá sám. " +
		"Pokud se stránka změnila, zeptá se na ni znovu, takže obsah je vždy čerstvý."},
	{"windows-1250 iso-8859-2", "Ez a kiszolgáló megőrzi a már elolvasott oldalakat, és a következő kérésre maga válaszol. " +
		"Ha az oldal megváltozott, újra lekéri, így a tartalom mindig friss. Két új kérdés időpontja is szűkült."},
	{"windows-1253 iso-8859-7", "Αυτός ο διακομιστής αποθηκεύει τις σελίδες που έχουν ήδη διαβαστεί και απαντά μόνος του στο " +
		"επόμενο αίτημα."},
	{"windows-1254", "Bu sunucu daha önce okunmuş sayfaları saklar ve bir sonraki isteği kendisi yanıtlar. Sayfa değiştiyse " +
		"yeniden sorar, böylece içerik hep güncel kalır."},
	{"windows-1255", "השרת הזה שומר את הדפים שכבר נקראו, ועונה בעצמו על הבקשה הבאה. אם הדף השתנה, הוא שואל עליו שוב."},
	{"windows-1256", "يحتفظ هذا الخادم بالصفحات التي تمت قراءتها من قبل، ويجيب بنفسه عن الطلب التالي. إذا تغيرت الصفحة فإنه " +
		"يسأل عنها مرة أخرى."},
	{"windows-1257", "Šis serveris glabā lapas, kas jau ir izlasītas, un pats atbild uz nākamo pieprasījumu. Ja lapa ir " +
		"mainījusies, tas to pieprasa vēlreiz, tāpēc saturs vienmēr ir svaigs."},
	{"windows-874", "เซิร์ฟเวอร์นี้เก็บหน้าเว็บที่อ่านแล้ว และตอบคำขอครั้งต่อไปด้วยตัวเอง ถ้าหน้าเปลี่ยนไปก็จะถามใหม่อีกครั้ง"},
	{"shift_jis euc-jp iso-2022-jp", "このサーバーは一度読まれたページを保存し、次の要求には自分で答えます。ページが変わったときは、もう一度取得します。"},
	{"gbk gb18030", "这个服务器保存已经读过的网页，并且自己回答下一个请求。如果网页有了变化，它就会重新获取。"},
	{"big5", "這個伺服器會保存已經讀過的網頁，並且自己回答下一個請求。如果網頁有了變化，它就會重新取得。"},
	{"euc-kr", "이 서버는 이미 읽은 페이지를 보관하고 다음 요청에는 스스로 응답합니다. 페이지가 바뀌면 다시 가져옵니다."},
	{"windows-1252", "Dieser Server bewahrt gelesene Seiten auf und beantwortet die nächste Anfrage selbst. Für größere Dateien " +
		"heißt das: Änderungen überprüft er zuerst."},
	{"windows-1252", "Ce serveur conserve les pages déjà lues et répond lui-même à la requête suivante ; s’il a changé, " +
		"le contenu est récupéré à nouveau. Ça marche très bien."},
	{"windows-1252", "It’s the reader’s naïve café — nothing more."},
}

func encoded(tb testing.TB, name, text string) []byte {
	tb.Helper()
	e, _ := htmlcharset.Lookup(name)
	if e == nil {
		tb.Fatalf("unknown encoding %q", name)
	}
	b, err := encoding.ReplaceUnsupported(e.NewEncoder()).Bytes([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func decoded(tb testing.TB, name string, b []byte) string {
	tb.Helper()
	if name == "" {
		return string(b)
	}
	e, _ := htmlcharset.Lookup(name)
	if e == nil {
		tb.Fatalf("unknown encoding %q", name)
	}
	text, err := e.NewDecoder().Bytes(b)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func TestASentenceTellsItsEncoding(t *testing.T) {
	for _, s := range sentences {
		for name := range strings.FieldsSeq(s.encodings) {
			b := encoded(t, name, s.text)
			guess := charset.Detect(b, "")
			if got := decoded(t, guess.Name, b); got != s.text {
				t.Errorf("in %s: detected %q, which reads %q", name, guess.Name, got)
			}
			if guess.Contradicts(name) {
				t.Errorf("in %s: the text contradicts its own encoding", name)
			}
		}
	}
}

func TestAFalseDeclarationIsContradicted(t *testing.T) {
	for _, tt := range []struct{ encoding, declared string }{
		{"windows-1251", "windows-1252"},
		{"koi8-r", "windows-1251"},
		{"shift_jis", "windows-1252"},
		{"euc-kr", "gbk"},
		{"gb18030", "big5"},
		{"windows-1253", "windows-1252"},
	} {
		for _, s := range sentences {
			if !strings.Contains(" "+s.encodings+" ", " "+tt.encoding+" ") {
				continue
			}
			b := encoded(t, tt.encoding, s.text)
			if guess := charset.Detect(b, ""); !guess.Contradicts(tt.declared) {
				t.Errorf("%s declared as %s is believed", tt.encoding, tt.declared)
			}
			break
		}
	}
	if charset.Detect([]byte("gr\xfcn"), "").Contradicts("koi8-r") {
		t.Error("one letter contradicts a declaration")
	}
}

func TestTheStatedLanguageDecidesBetweenFewLetters(t *testing.T) {
	text := encoded(t, "windows-1250", "Še č")
	for lang, want := range map[string]string{"": "windows-1252", "sl-SI": "windows-1250"} {
		if got := charset.Detect(text, lang).Name; got != want {
			t.Errorf("Detect(%q, %q) = %s, want %s", text, lang, got, want)
		}
	}
}

// TestEncodingsOfLanguages detects samples of texts in the folder that READTHRU_LANGUAGES names, LANGUAGE.txt in UTF-8,
// in each encoding of the language, and prints the share of samples that come out right.
func TestEncodingsOfLanguages(t *testing.T) {
	dir := os.Getenv("READTHRU_LANGUAGES")
	if dir == "" {
		dir = "testdata"
	}
	r := rand.New(rand.NewPCG(1, 2))
	right, all := 0, 0
	for pair := range strings.FieldsSeq(`ru:windows-1251 ru:koi8-r ru:iso-8859-5 ru:ibm866 uk:windows-1251 uk:koi8-u
		bg:windows-1251 sr:windows-1251 pl:windows-1250 pl:iso-8859-2 cs:windows-1250 cs:iso-8859-2 hu:windows-1250
		hu:iso-8859-2 sk:windows-1250 sl:windows-1250 hr:windows-1250 ro:iso-8859-2 el:windows-1253 el:iso-8859-7
		tr:windows-1254 he:windows-1255 ar:windows-1256 fa:windows-1256 lt:windows-1257 lv:windows-1257 et:windows-1257
		th:windows-874 ja:shift_jis ja:euc-jp ja:iso-2022-jp zh_CN:gb18030 zh_TW:big5 ko:euc-kr de:windows-1252
		fr:windows-1252 es:windows-1252 sv:windows-1252 it:windows-1252 pt:windows-1252 fi:windows-1252`) {
		language, name, _ := strings.Cut(pair, ":")
		content, err := os.ReadFile(filepath.Join(dir, language+".txt"))
		if err != nil {
			continue
		}
		text := []rune(string(content))
		good, samples := 0, 0
		for range 200 {
			size := min(1000, len(text))
			begin := r.IntN(len(text) - size + 1)
			b := encoded(t, name, string(text[begin:begin+size]))
			samples++
			if guess := charset.Detect(b, ""); decoded(t, guess.Name, b) == decoded(t, name, b) {
				good++
			}
		}
		right, all = right+good, all+samples
		t.Logf("%-22s %d of %d", pair, good, samples)
	}
	if all == 0 {
		t.Fatalf("no texts in %s", dir)
	}
	t.Logf("all: %d of %d", right, all)
	if right*100 < all*90 {
		t.Errorf("%d of %d samples came out right, want 90 %%", right, all)
	}
}

func FuzzDetect(f *testing.F) {
	for _, s := range sentences {
		name, _, _ := strings.Cut(s.encodings, " ")
		f.Add(encoded(f, name, s.text), "en")
	}
	f.Fuzz(func(t *testing.T, content []byte, lang string) {
		guess := charset.Detect(content, lang)
		decoded(t, guess.Name, content)
		if guess.Contradicts(guess.Name) {
			t.Errorf("%s contradicts itself", guess.Name)
		}
	})
}
